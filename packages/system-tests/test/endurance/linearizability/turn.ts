import type { Question } from '../soak/ask.ts'
import type { Choices } from '../soak/choices.ts'
import type { FileState } from './file-operation.ts'
import type { Operation } from './find-order.ts'
import type { Delivery } from './network.ts'
import type { UploadHistory } from './upload-history.ts'

/** A client's turn to do one thing. */
export interface Turn {
  /** Sends a request to one of the servers. */
  readonly send: (question: Question) => Promise<Delivery>
  readonly credentials: Readonly<Record<string, string>>
  readonly choices: Choices
  /** No two turns have the same: it says whose bytes they are. */
  readonly id: string
  /** The file that all clients use in this round. */
  readonly name: string
  readonly round: number
  /** Whether another process may change the file between the look of a deletion and its removal. */
  readonly looksBeforeRemoval: boolean
  /** What has been sent as the file, by its id. */
  readonly contents: Map<string, Buffer>
  /** The entity tags of downloads, and the file that each means. */
  readonly etags: Map<string, string>
  /** The uploads in pieces that are to become the file. */
  readonly uploads: UploadHistory[]
  /** The next moment of the clock of all clients. */
  readonly now: () => number
}

/** What was seen of the file; nothing, if there was no answer to a question. */
export type Seen = readonly Operation<FileState>[]
