import type { Advice, Credential } from '@holdfast/core'
import type { Config } from '../config/resolve-config.ts'
import type { Figures } from '../serve/server-watch.ts'
import type { ReadCertificate } from '../tls/open-certificate.ts'
import type { QuotaHandlers } from './quota-server.ts'
import type { TurnHandlers } from './turn-server.ts'
import type { ReplicatedFailure, ReplicatedCount } from './replicated-counters.ts'

/** What a worker starts with. */
export interface WorkerOrder {
  readonly config: Omit<Config, 'readSecret'>
  /** Which of the workers it is, from 0; no two that run have the same. */
  readonly place: number
}

/** What a worker reports of itself. */
export type StartHandlers = {
  begin(nothing: object): WorkerOrder
  listening(place: { readonly url: string }): void
  /** It cannot start. `isMistake`: the administrator can mend it. */
  failed(why: Advice & { readonly isMistake: boolean }): void
}

/** What a worker does for its primary. */
export type WorkerHandlers = ReplicaHandlers & {
  /** Answers as long as its process does anything. */
  alive(nothing: object): boolean
  reload(nothing: object): Promise<boolean>
  /** What the worker has measured; left out where it does not measure. */
  figures(nothing: object): Promise<Figures | undefined>
  /** Closes the server; see `RunningServer`. */
  close(nothing: object): Promise<boolean>
  /** Makes the grace time of `close` end. */
  hurry(nothing: object): void
}

/** A password that a client presents, and what it has to belong to. */
export interface Verification {
  readonly name: string
  readonly address: string
  readonly password: string
  readonly passwordHash?: string | undefined
}

/** As long for an unknown customer: the time of a request by a link must not show who exists. */
export interface SentLinkKey {
  /** Whether there is such a customer; otherwise the key is none. */
  readonly exists: 0 | 1
  /** In Base64. */
  readonly key: string
}

/** What workers may ask their primary about what they have in common. */
export type PrimaryHandlers = QuotaHandlers &
  TurnHandlers & {
    verify(verification: Verification, signal: AbortSignal): Promise<boolean>
    /** The key for links of the customer called `name`. */
    linkKey(customer: { readonly name: string }): Promise<SentLinkKey>
    /** Counts a wrong link. */
    linkFailed(failure: { readonly key: string }): Promise<void>
    count(change: ReplicatedCount): void
  }

/** What a worker takes from its primary. */
export type ReplicaHandlers = {
  customers(credentials: readonly Credential[]): void
  certificate(certificate: ReadCertificate): void
  failure(failure: ReplicatedFailure): void
  count(change: ReplicatedCount): void
}
