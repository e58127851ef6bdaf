import type { Client } from '@holdfast/client'
import type { SyncState } from './sync-state.ts'

/** From where to where, and how. */
export interface SyncPlan {
  readonly client: Client
  readonly directory: string
  /** The folder that the names on the server begin with; '' for none. */
  readonly into: string
  /** Whether to say only what would be done. */
  readonly isDryRun: boolean
  /** How many files may be deleted that are on the server only; `undefined`: none is looked for. */
  readonly mostDeletions: number | undefined
  /** How many requests, or readings, are under way at a time. */
  readonly concurrency: number
  readonly signal: AbortSignal
  readonly state: SyncState
  readonly events: SyncEvents
}

/** What is done with a file, or would be. */
export type SyncAction =
  | { readonly action: 'send'; readonly path: string; readonly name: string; readonly size: number }
  | { readonly action: 'delete'; readonly name: string }
  | {
      readonly action: 'skip'
      readonly path: string
      readonly name: string
      readonly reason: string
    }

export interface SyncEvents {
  /** Called after it is done, or in a dry run instead. */
  did(action: SyncAction): Promise<void>
  /** Called for what could not be done; the others follow. */
  failed(path: string, error: unknown): Promise<void>
  note(text: string): void
  progress(progress: SyncProgress): void
}

/** How far a run is. */
export interface SyncProgress {
  /** Of the files that were there at the beginning. */
  readonly checked: number
  readonly total: number
  readonly sent: number
  readonly sentBytes: number
}

/** What became of all files. */
export interface SyncSummary {
  readonly sent: number
  readonly sentBytes: number
  readonly unchanged: number
  readonly deleted: number
  readonly skipped: number
  readonly failed: number
}
