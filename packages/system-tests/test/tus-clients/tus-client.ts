import type { HoldfastServer } from '@holdfast/testing'
import type { Page } from '@holdfast/testing/browsers'

/** What a client of tus is to do, on every platform that clients run on. */
export interface UploadJob {
  /** The URL that takes new uploads. */
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  /** The file's name, as the client sends it in `Upload-Metadata`. */
  readonly name: string
  /** Bytes of each request; all in one if absent. */
  readonly pieceSize?: number
  /** The upload to go on with. */
  readonly url?: string
  /** What to do once so many bytes have arrived: pause and resume, end without a word to the server, or terminate. */
  readonly interruption?: {
    readonly at: number
    readonly kind: 'pause' | 'stop' | 'terminate'
  }
  /** Whether the client looks for an upload of the same file that it has begun before, and goes on with it. */
  readonly remembers?: boolean
}

export interface UploadOutcome {
  readonly ending: 'stored' | 'stopped' | 'terminated' | 'failed'
  /** Where the upload is, if the client knows. */
  readonly url: string
  /** The status and the body that the client saw last, if it failed and shows them. */
  readonly status?: number
  readonly message?: string
}

/** What clients work with. */
export interface Workplace {
  readonly file: string
  /** Opens a tab with the page that runs clients; all tabs have the same storage. */
  openTab(): Promise<Page>
}

/** Starts a server of the store under test, with further flags. */
export type StartServer = (flags: readonly string[]) => Promise<HoldfastServer>

/** A client of tus that others have written. */
export interface TusClient {
  readonly title: string
  readonly abilities: readonly Ability[]
  run(job: UploadJob, workplace: Workplace): Promise<UploadOutcome>
}

/**
 * What not every client can: `pause` and go on within one upload, `stop` and go on with a URL, `terminate`, `remember`
 * uploads that it has begun before, `replace` an upload that has expired by a new one.
 */
export type Ability = 'pause' | 'stop' | 'terminate' | 'remember' | 'replace'
