import type { Registry } from 'prom-client'
import type { ClosableStore } from '../stores/open-store.ts'

/** The figures of a process, as they go to another one. */
export type Figures = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** What there is to look at in a running server. */
export interface ServerStatus {
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
  /** Calls `notify` whenever one has died from now on. */
  onDeath(notify: () => void): void
  /** The figures of each that serves; `undefined` for one that does not report them in time. */
  figures(): Promise<readonly (Figures | undefined)[]>
}
