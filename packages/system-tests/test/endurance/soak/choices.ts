import { createHash } from 'node:crypto'
import { seeded } from '@holdfast/testing'

/** Choices that look random and are the same in each run with the same seed. */
export interface Choices {
  /** A whole number from 0 to `limit - 1`. */
  below(limit: number): number
  /** A whole number from `first` to `last`. */
  between(first: number, last: number): number
  /** `true` in `percent` of a hundred cases. */
  chance(percent: number): boolean
  pick<T>(list: readonly [T, ...T[]]): T
  /** One of the keys, as often as its number says in proportion to the others. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K
  /** `count` different members of `list`, or all where there are fewer. */
  some<T>(list: readonly T[], count: number): T[]
}

/** Choices of their own for each `purpose`, so that nobody's depend on how many another has made. */
export function createChoices(seed: number, purpose: string): Choices {
  const hash = createHash('sha256').update(`${seed} ${purpose}`).digest()
  const below = seeded(hash.readInt32LE())
  return {
    below,
    between: (first, last) => first + below(last - first + 1),
    chance: (percent) => below(100) < percent,
    pick: ([first, ...rest]) => [first, ...rest][below(rest.length + 1)] ?? first,
    weighted(weights) {
      const keys = Object.keys(weights) as (keyof typeof weights)[]
      let rest = below(keys.reduce((sum, key) => sum + weights[key], 0))
      const chosen = keys.find((key) => (rest -= weights[key]) < 0)
      if (chosen === undefined) throw new RangeError('There is nothing to choose from')
      return chosen
    },
    some(list, count) {
      const left = [...list]
      return Array.from({ length: Math.min(count, left.length) }, () =>
        left.splice(below(left.length), 1),
      ).flat()
    },
  }
}
