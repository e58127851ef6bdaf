/** What may be odd about an entry of a data directory. */
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

/** What was counted among the files of all customers. */
export interface Census {
  readonly customers: number
  readonly files: number
  readonly bytes: number
  /** Whether everything was looked at. */
  readonly isComplete: boolean
  readonly odd: ReadonlyMap<Oddity, OddEntries>
}
