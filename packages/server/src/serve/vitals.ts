import type { ClosableStore } from './open-store.ts'

/** What there is to look at in a running server. */
export interface Vitals {
  readonly store: ClosableStore
  readonly customers: () => CustomersState
}

export interface CustomersState {
  /** How many there are. */
  readonly count: number
  /** Since when the file has been refused, and the customers are those of before. */
  readonly refusedSince?: Date | undefined
}
