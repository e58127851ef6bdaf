import type { Server } from 'node:http'
import { type PasswordVerifier, SetupError } from '@holdfast/core'
import type { OnAnswered, OnLogin, RequestCounter } from '@holdfast/http-koa'
import type { ClosableStore } from '../stores/open-store.ts'
import type { Config } from '../config/resolve-config.ts'
import type { ListeningPlace } from '../listen/explain-listening.ts'

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
