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
