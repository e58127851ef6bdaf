import type { Figures } from '../metrics/merge-figures.ts'
import type { ClosableStore } from '../stores/closable-store.ts'

/** What there is to look at in a running server. */
export interface Vitals {
  readonly store: ClosableStore
  readonly customers: () => CustomersState
  /** Left out where the server speaks HTTP. */
  readonly certificate?: (() => CertificateState) | undefined
  /** Left out where one process does it all. */
  readonly workers?: WorkersState
}

export interface CustomersState {
  /** How many there are. */
  readonly count: number
  /** Since when the file has been refused, and the customers are those of before. */
  readonly refusedSince?: Date | undefined
}

export interface CertificateState {
  readonly expires: Date
  /** Since when what the files hold has been refused, and the certificate is the one of before. */
  readonly refusedSince?: Date | undefined
}

export interface WorkersState {
  /** How many there are to be. */
  readonly wanted: number
  /** How many serve. */
  count(): number
  /** How many serve and answer; those that have not when `signal` aborts do not. */
  readonly answering: (signal: AbortSignal) => Promise<number>
  /** Calls `tell` whenever one has died from now on. */
  onDeath(tell: () => void): void
  /** The figures of each that serves; `undefined` for one that does not tell them in time. */
  figures(): Promise<readonly (Figures | undefined)[]>
}
