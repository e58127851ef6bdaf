import type { PublishedUploads } from '@holdfast/core'
import type { DurableDirectories } from '../directory/durable-directories.ts'
import type { Layout } from '../directory/layout.ts'
import type { MountCheck } from '../directory/mount-check.ts'
import type { FileCalls } from '../files/file-calls.ts'
import type { ReplacementJournal } from '../temp/replacement-journal.ts'
import type { TempDirectory } from '../temp/temp-directory.ts'

/** What uploads in pieces need of a store on a directory. */
export interface UploadSite {
  /** Of the blobs. */
  readonly layout: Layout
  /** Of the directories of customers that have uploads. */
  readonly uploads: Layout
  readonly calls: FileCalls
  readonly tempDirectory: TempDirectory
  /** Makes the directories of blobs. */
  readonly directories: DurableDirectories
  /** Makes the directories of uploads. */
  readonly uploadDirectories: DurableDirectories
  readonly journal: Pick<ReplacementJournal, 'replace'>
  readonly checkMount: MountCheck
  /** What this process knows of published uploads. */
  readonly published: PublishedUploads
  /** The number of this process among those that share the directory. */
  readonly writer: number
  /** Whether the directory is known to lie on this machine. */
  readonly isLocal: boolean
}

/** The files of an upload beside its content: the record, its name once the blob is durable, and a request to end. */
export const recordName = 'upload.json'
export const publishedName = 'published.json'
export const wantedName = 'wanted'

/**
 * What the name of an upload's content says. The name is what makes an upload safe: to change it is one step of the file
 * system, which fails if another process has changed it before (docs/decisions/031-offset-and-owner-in-a-name.md).
 */
export interface ContentName {
  /** So many bytes of the content count: the name with them is durable. */
  readonly offset: number
  /** So many bytes are durable, and will count once this name is. */
  readonly pending?: number
  /** The process that writes, as its directory in `tmp` is called; none if no one writes. */
  readonly owner?: string
  /** Whether an earlier owner, who was silent and may come back, still has the file open. */
  readonly isShared: boolean
}

const pattern = /^bytes-(\d{1,16})(?:\+(\d{1,16}))?(~?)(?:=(.+))?$/

/** The file name that says this. */
export function formatContentName({ offset, pending, owner, isShared }: ContentName): string {
  const bytes = pending === undefined ? `${offset}` : `${offset}+${pending}`
  return `bytes-${bytes}${isShared ? '~' : ''}${owner === undefined ? '' : `=${owner}`}`
}

/** What the file name `name` says; `undefined` if it is not the name of a content. */
export function parseContentName(name: string): ContentName | undefined {
  const [match, offset, pending, shared, owner] = pattern.exec(name) ?? []
  if (match === undefined) return undefined
  return {
    offset: Number(offset),
    ...(pending !== undefined && { pending: Number(pending) }),
    ...(owner !== undefined && { owner }),
    isShared: shared === '~',
  }
}
