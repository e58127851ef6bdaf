import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { PublishedUploads } from '@holdfast/core'
import type { DurableDirectories } from '../directory/data-directory.ts'
import type { MountCheck } from '../directory/layout-file.ts'
import type { Layout } from '../directory/layout.ts'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import { type FileCalls, isAbsence } from '../files/file-calls.ts'
import type { VersionNames } from '../history/version-names.ts'
import type { ReplacementJournal } from '../temp/replacement-journal.ts'
import type { TempDirectory } from '../temp/temp-directory.ts'

/** What uploads in pieces need of a disk store. */
export interface UploadSite {
  /** The layout of the blobs. */
  readonly layout: Layout
  /** The layout of the directories of customers that have uploads. */
  readonly uploads: Layout
  readonly calls: FileCalls
  readonly tempDirectory: TempDirectory
  /** Makes the directories of blobs. */
  readonly directories: DurableDirectories
  /** Makes the directories of uploads. */
  readonly metadataDirectories: DurableDirectories
  readonly journal: Pick<ReplacementJournal, 'replace'>
  /** Keeps files that are replaced or deleted. */
  readonly versionNames: VersionNames
  readonly checkMount: MountCheck
  /** The published uploads that this process knows. */
  readonly published: PublishedUploads
  /** The number of this process among those that share the directory. */
  readonly writer: number
  /** Whether the directory is known to lie on this machine. */
  readonly isLocal: boolean
}

/**
 * The files of an upload beside its content: its record, the record's name once the blob is durable, and a request to its owner to stop.
 */
export const recordName = 'upload.json'
export const publishedName = 'published.json'
export const wantedName = 'wanted'

/**
 * The parts of the name of an upload's content. The name makes an upload safe: a rename is one step of the file system, which fails if
 * another process has renamed it before (docs/decisions/031-offset-and-owner-in-a-name.md).
 */
export interface ContentName {
  /** How many bytes of the content count: the name with this number is durable. */
  readonly offset: number
  /** How many bytes are durable, and will count once this name is durable, too. */
  readonly pending?: number
  /** The process that writes, as its directory in `tmp` is called; `undefined` if none writes. */
  readonly owner?: string
  /** Whether an earlier owner, who was silent and may come back, still has the file open. */
  readonly isShared: boolean
}

const pattern = /^bytes-(\d{1,16})(?:\+(\d{1,16}))?(~?)(?:=(.+))?$/

/** Formats the file name. */
export function formatContentName({ offset, pending, owner, isShared }: ContentName): string {
  const bytes = pending === undefined ? `${offset}` : `${offset}+${pending}`
  return `bytes-${bytes}${isShared ? '~' : ''}${owner === undefined ? '' : `=${owner}`}`
}

/** Parses the file name `name`; `undefined` if it is not the name of a content. */
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

type RemovalSite = Pick<UploadSite, 'calls' | 'tempDirectory'>

/**
 * Removes the directory of an upload durably, in one step; resolves with whether there was one. A process that writes the content loses it
 * at that moment. The entries of the directory are removed afterwards, by the next start if need be.
 */
export function removeUpload(site: RemovalSite, directory: string): Promise<boolean> {
  return moveAway(site, directory, async (move) => {
    await changeDurably(dirname(directory), move, site.calls)
    crashPoint('upload-removal-synced')
  })
}

/** Removes an upload without a sync: after a power cut it may be there again. */
export function forgetUpload(site: RemovalSite, directory: string): Promise<boolean> {
  return moveAway(site, directory, (move) => move())
}

async function moveAway(
  { calls, tempDirectory }: RemovalSite,
  directory: string,
  change: (move: () => Promise<void>) => Promise<void>,
): Promise<boolean> {
  const trash = await tempDirectory.createTemporaryDirectory()
  try {
    await change(async () => {
      await calls.rename(directory, join(trash, 'upload'))
      crashPoint('upload-moved-away')
    })
    return true
  } catch (error) {
    if (isAbsence(error)) return false
    throw error
  } finally {
    await rm(trash, { recursive: true, force: true }).catch(() => {})
  }
}
