/** How many bytes each unfinished upload of one customer has, by its id. */
export interface StagedBytes {
  /** The sum of all. */
  total(): number
  of(upload: string): number
  /** An upload has at least so many bytes: it never has fewer than it once had, so the larger number is right. */
  raise(upload: string, bytes: number): void
  /** An upload is unfinished no more, or gone. */
  remove(upload: string): void
  ids(): readonly string[]
}

export function createStagedBytes(): StagedBytes {
  const staged = new Map<string, number>()
  let total = 0
  const of = (upload: string) => staged.get(upload) ?? 0
  return {
    total: () => total,
    of,
    raise(upload, bytes) {
      const more = bytes - of(upload)
      if (more <= 0) return
      staged.set(upload, bytes)
      total += more
    },
    remove(upload) {
      total -= of(upload)
      staged.delete(upload)
    },
    ids: () => [...staged.keys()],
  }
}
