import type { Server } from 'node:http'
import type { PasswordVerifier, Usage } from '@holdfast/core'
import type { OnAnswered, OnLogin, RequestCounters } from '@holdfast/http-koa'
import type { Registry } from 'prom-client'
import type { ClosableStore } from '../stores/open-store.ts'
import type { Webhooks } from '../events/open-webhooks.ts'
import type { EngineState } from '../shared/open-shared-state.ts'

/** The files that are read or opened again while a server runs. */
export type Reloadable = 'customers' | 'certificate' | 'audit'

/** Why an earlier version was removed: its time has passed, or before that the customer's limit or the disk was full. */
export type PurgeReason = 'outdated' | 'surplus' | 'space'

/** Measures a running server. Its methods return what they get, and count its use. */
export interface ServerWatch {
  /** Absent if requests are not measured. */
  readonly onAnswered?: OnAnswered
  /** Absent if logins are not measured. */
  readonly onLogin?: OnLogin
  verifyPassword(verify: PasswordVerifier): PasswordVerifier
  store(store: ClosableStore): ClosableStore
  requestCounters(counters: RequestCounters): RequestCounters
  server(server: Server): void
  /** Called when a new version was accepted, or was refused so that the old one stays in use. */
  onReload(what: Reloadable, isTaken: boolean): void
  /** Called with the number of uploads in pieces that have expired. */
  onExpired(uploads: number): void
  /** Called when earlier versions were removed, with the reason and their bytes. */
  onPurged(reason: PurgeReason, bytes: number): void
  /** Called after each sweep with the amount of all earlier versions of all customers. */
  onKept(kept: Usage): void
}

/** Measures nothing, and costs nothing. */
export const noWatch: ServerWatch = {
  verifyPassword: (verify) => verify,
  store: (store) => store,
  requestCounters: (counters) => counters,
  server() {},
  onReload() {},
  onExpired() {},
  onPurged() {},
  onKept() {},
}

/** The metrics of a process, in the form in which they are sent to another process. */
export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** The parts of a running server that are checked and measured. */
export interface ServerStatus {
  readonly store: ClosableStore
  readonly customers: () => CustomersState
  /** `undefined` if the server speaks HTTP. */
  readonly certificate?: (() => CertificateState) | undefined
  /** Absent in a worker. */
  readonly events?: Pick<Webhooks, 'ofServer' | 'ofCustomers' | 'failedCustomers'>
  /** Absent if the server counts for itself. */
  readonly shared?: () => EngineState
  /** Absent if the server has no workers. */
  readonly workers?: WorkersState
}

export interface CustomersState {
  /** How many customers there are. */
  readonly count: number
  /** Since when the file has been refused, so that the earlier customers are in use; `undefined` if it is not. */
  readonly refusedSince?: Date | undefined
}

export interface CertificateState {
  readonly expires: Date
  /** Since when the files have been refused, so that the earlier certificate is in use; `undefined` if they are not. */
  readonly refusedSince?: Date | undefined
}

export interface WorkersState {
  /** How many workers there should be. */
  readonly wanted: number
  /** How many workers serve. */
  count(): number
  /** How many workers serve and have answered before `signal` aborts. */
  readonly answering: (signal: AbortSignal) => Promise<number>
  /** From now on calls `notify` whenever a worker has crashed or ended. */
  onDeath(notify: () => void): void
  /** The metrics of each worker that serves; `undefined` for a worker that does not report them in time. */
  metrics(): Promise<readonly (MetricValues | undefined)[]>
}
