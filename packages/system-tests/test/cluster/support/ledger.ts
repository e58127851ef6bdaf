/** What a customer's files may be, by what the answers to uploads have said. */
export interface Ledger {
  /** An upload under this name begins. */
  begin(name: string, digest: string): void
  /** It was answered with OK: the file is this one now, or what is put there later. */
  acknowledge(name: string, digest: string): void
  /** The names with an acknowledged file, which must be there. */
  acknowledged(): readonly string[]
  /** Every name that was ever tried. */
  names(): readonly string[]
  /** Whether the file under `name` may have this content. */
  allows(name: string, digest: string): boolean
}

/** For uploads that follow each other; those that fail may have been stored or not, but only as a whole. */
export function createLedger(): Ledger {
  const possible = new Map<string, Set<string>>()
  const known = new Set<string>()
  return {
    begin: (name, digest) => void possible.set(name, (possible.get(name) ?? new Set()).add(digest)),
    acknowledge: (name, digest) => {
      possible.set(name, new Set([digest]))
      known.add(name)
    },
    acknowledged: () => [...known],
    names: () => [...possible.keys()],
    allows: (name, digest) => possible.get(name)?.has(digest) ?? false,
  }
}
