import type { Server } from 'node:http'
import type { PasswordVerifier } from '@holdfast/core'
import type { OnAnswered, OnLogin, RequestCounter } from '@holdfast/http-koa'
import type { ClosableStore } from '../stores/closable-store.ts'

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
