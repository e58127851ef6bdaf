/** The ways in which an entry of a data directory can be odd. */
export const oddities = [
  'foreign',
  'unreadable',
  'unwritable',
  'strange owner',
  'elsewhere',
  'future',
] as const

export type Oddity = (typeof oddities)[number]

/** Entries that are odd in one way. */
export interface OddEntries {
  readonly count: number
  /** The path of the first one. */
  readonly example: string
}

/** The counters of the files of all customers. */
export interface FilesSummary {
  readonly customers: number
  readonly files: number
  readonly bytes: number
  /** Whether all entries were inspected. */
  readonly isComplete: boolean
  readonly odd: ReadonlyMap<Oddity, OddEntries>
}
