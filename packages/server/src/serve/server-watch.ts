import type { Server } from 'node:http'
import { type PasswordVerifier, SetupError } from '@holdfast/core'
import type { OnAnswered, OnLogin, RequestCounter } from '@holdfast/http-koa'
import type { ClosableStore } from '../stores/open-store.ts'
import type { Config } from '../config/resolve-config.ts'
import type { ListeningPlace } from '../listen/explain-listening.ts'
import type { Registry } from 'prom-client'

/** What is read again while a server runs. */
export type Reloadable = 'customers' | 'certificate' | 'audit'

/** Measures a server at work: returns what it is given, with its use counted. */
export interface ServerWatch {
  /** Left out where requests are not measured. */
  readonly onAnswered?: OnAnswered
  /** Left out where logins are not measured. */
  readonly onLogin?: OnLogin
  verifyPassword(verify: PasswordVerifier): PasswordVerifier
  store(store: ClosableStore): ClosableStore
  requestCounter(counter: RequestCounter): RequestCounter
  server(server: Server): void
  /** Called when something new was taken, or refused, so that the old one stays. */
  onReload(what: Reloadable, isTaken: boolean): void
  /** Called when so many uploads in pieces have expired. */
  onExpired(uploads: number): void
}

/** Measures nothing, and costs nothing. */
export const noWatch: ServerWatch = {
  verifyPassword: (verify) => verify,
  store: (store) => store,
  requestCounter: (counter) => counter,
  server() {},
  onReload() {},
  onExpired() {},
}

/**
 * Where those who watch over the server reach it; `undefined` where the configuration has no such port.
 *
 * @throws SetupError if it is the port of the customers
 */
export function adminPlace(config: Config): ListeningPlace | undefined {
  const { 'admin-port': port, 'admin-host': host } = config
  if (port === undefined) return undefined
  if (port === config.port && port !== 0) {
    throw new SetupError(
      `The ports for customers (--port) and for administration (--admin-port) are both ${port}`,
      ['choose another one.'],
    )
  }
  return { host, port, prefix: 'admin-' }
}

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
