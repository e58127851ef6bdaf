import type { HttpCrashPoint } from '@holdfast/http-koa'
import type { DiskCrashPoint } from '@holdfast/store-disk'
import type { CrashSite, Files } from './crash-site.ts'
import type { FileInPieces, PieceProtocol } from './piece-protocols.ts'
import type { Answer } from './send.ts'

/** Where a server can be killed; the last one is Node's own, after which nothing is left to do. */
export type CrashPoint = DiskCrashPoint | HttpCrashPoint | 'answer-sent'

/** Something that a server is killed in the middle of. */
export interface Scenario {
  readonly title: string
  /**
   * Its steps, in order. Of `content-written` there may be more. Those of a scenario with a request or an upload in pieces begin when
   * the directory has been opened, those of one without with the start of the process. Default: those that a rehearsal finds.
   */
  readonly steps?: readonly CrashPoint[]
  /** Where the server is killed unless HOLDFAST_CRASH_EVERYWHERE is set: other scenarios have the other steps. Default: at each step. */
  readonly kills?: readonly CrashPoint[]
  /** What is stored before; without it there is no data directory. */
  readonly before?: Files
  /** What is to be done. A scenario without is about the start itself. */
  readonly request?: (url: string, site: CrashSite, place: string) => Promise<Answer>
  /** The status of the answer, and a part of its text. */
  readonly answer?: readonly [status: number, text: string]
  /** What each `named` and each `name-removed` changes, in order: files that get their names, and those that lose them (`undefined`). */
  readonly changes?: readonly Readonly<Record<string, Buffer | undefined>>[]
  /** What the request itself has somebody else store meanwhile. */
  readonly rivals?: Files
  /** Directories of two processes that died are there before. */
  readonly hasLeftOvers?: boolean
  /** The upload in pieces that it is about; `place` of a request is its path. */
  readonly upload?: UploadAtStake
  /** Another server shares the directory, and has an upload under way from before the start until after the check. */
  readonly hasNeighbour?: boolean
}

/** An upload in pieces that a server dies with. */
export interface UploadAtStake {
  readonly protocol: PieceProtocol
  readonly file: FileInPieces
  /** So many bytes were acknowledged before. Default: it begins in the scenario. */
  readonly before?: number
  /** Changes the directory of an upload that was there before. */
  readonly prepare?: (directory: string) => Promise<void>
  /** So many bytes are there after the request; none if that ends the upload, and so does its expiry, which is in the past. */
  readonly after: number | 'discarded' | 'expired'
}

const publishing: readonly CrashPoint[] = ['named', 'name-removed']

/** What is stored when a server has died after `steps`; default: when all is done. */
export function filesAfter(scenario: Scenario, steps?: readonly CrashPoint[]): Files {
  const { before = {}, changes = [], rivals = {} } = scenario
  const published = steps?.filter((step) => publishing.includes(step)).length
  const files = new Map(Object.entries({ ...before, ...rivals }))
  for (const change of changes.slice(0, published)) {
    for (const [name, content] of Object.entries(change)) {
      if (content === undefined) files.delete(name)
      else files.set(name, content)
    }
  }
  return Object.fromEntries(files)
}
