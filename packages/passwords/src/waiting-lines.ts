/** Lines of those who wait, one for each of whatever they stand for. */
export interface WaitingLines<T> {
  /** How many wait in all lines together. */
  readonly size: number
  join(line: string, one: T): void
  leave(line: string, one: T): void
  /** Takes the first one of the line whose turn it is. */
  takeNext(): T | undefined
  /** Takes the last one of the longest line, if that stays at least as long as `line` with one more. */
  takeSurplus(line: string): T | undefined
  /** Takes all of all lines for whom `isMeant`. */
  takeAll(isMeant: (one: T) => boolean): readonly T[]
}

/** Waiting lines that take turns: who stands in a short one is not kept by a long one. First come first within a line. */
export function createWaitingLines<T>(): WaitingLines<T> {
  // In the order of their turns; none is empty.
  const lines = new Map<string, readonly T[]>()
  let size = 0

  const lengthOf = (line: string) => lines.get(line)?.length ?? 0
  const keep = (line: string, rest: readonly T[]) => {
    size += rest.length - lengthOf(line)
    if (rest.length > 0) lines.set(line, rest)
    else lines.delete(line)
  }

  return {
    get size() {
      return size
    },
    join: (line, one) => keep(line, [...(lines.get(line) ?? []), one]),
    leave(line, one) {
      const ones = lines.get(line) ?? []
      keep(
        line,
        ones.filter((each) => each !== one),
      )
    },
    takeNext() {
      for (const [line, [first, ...rest]] of lines) {
        keep(line, [])
        keep(line, rest)
        return first
      }
      return undefined
    },
    takeSurplus(line) {
      const [longest] = [...lines].sort(([, one], [, other]) => other.length - one.length)
      if (longest === undefined || longest[1].length <= lengthOf(line) + 1) return undefined
      keep(longest[0], longest[1].slice(0, -1))
      return longest[1].at(-1)
    },
    takeAll(isMeant) {
      const all = [...lines]
      for (const [line, ones] of all) {
        if (ones.some(isMeant)) {
          keep(
            line,
            ones.filter((one) => !isMeant(one)),
          )
        }
      }
      return all.flatMap(([, ones]) => ones.filter(isMeant))
    },
  }
}
