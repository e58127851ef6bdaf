import { access, constants, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  createPublishedUploads,
  nameTaken,
  having,
  oneOf,
  requireCount,
  requireOptions,
  requireText,
  sortUtf8,
  type BlobKey,
  type BlobStore,
  type ListOptions,
  type OptionCheck,
  type ResumableUploads,
  type LinkGenerations,
} from '@holdfast/core'
import { openDataDirectory, type DataDirectory } from './directory/data-directory.ts'
import type { NamesMode, Layout } from './directory/layout.ts'
import {
  blobInfo,
  fileStats,
  pooledCalls,
  translateFsError,
  undefinedIfAbsent,
} from './files/file-calls.ts'
import { freeSpaceOf } from './files/file-system.ts'
import { createUnchangedCache } from './files/unchanged-cache.ts'
import { createDiskHistory } from './history/disk-history.ts'
import { createVersionNames } from './history/version-names.ts'
import { withEntries } from './list/directory-entries.ts'
import {
  createStatsOf,
  createNameCache,
  noNameCache,
  createNameBudget,
  listDetails,
  listNames,
} from './list/list-names.ts'
import type { SortedNames } from './list/sorted-names.ts'
import {
  findCustomers,
  measure,
  createPlainWalk,
  createWatchedWalk,
  type Blobs,
} from './list/walk-blobs.ts'
import { createBlobReader } from './read/blob-reader.ts'
import { createDiskResumableUploads } from './resumable/disk-resumable-uploads.ts'
import { beforeChanging, beforeTaking, finishLinked } from './resumable/publish-upload.ts'
import { noReplacements } from './temp/replacement-journal.ts'
import type { WarningLog } from './temp/temp-directory.ts'
import { atomicWrite, plainWrite, type AtomicWrite } from './write/atomic-write.ts'
import { noPreparation, removeFile } from './write/publish-file.ts'
import { removeUnchanged, renameBlob } from './write/rename-and-remove.ts'
import type { BigIntStats } from 'node:fs'
import { randomBytes } from 'node:crypto'

export interface DiskBlobStoreOptions {
  /** The data directory; made if missing. Several processes may share it. */
  readonly directory: string
  /**
   * How a new directory names its files; an existing one stays as it is. Default: `plain` where the file system keeps
   * all names apart, `escaped` elsewhere.
   */
  readonly names?: NamesMode
  /**
   * The number of this process among those that share the directory, from 0 to 9. Two that replace a blob within a microsecond give it
   * different entity tags if their numbers differ. Default: 0.
   */
  readonly writer?: number
  /** Receives warnings about left-overs of a crash that were removed, or cannot be removed. Default: no log. */
  readonly log?: WarningLog
  /** The most bytes of small files and of names that are kept in memory; 0 for none. Default: 32 MiB. */
  readonly cacheBytes?: number
}

const requireWriter: OptionCheck = (what, value) => {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 9) return
  throw new RangeError(`${what} must be a whole number from 0 to 9, not ${JSON.stringify(value)}`)
}

/** A {@link BlobStore} on a directory. */
export interface DiskBlobStore extends BlobStore {
  /** Writes, reads and removes a test file as it does with blobs. Rejects with the first failure. */
  readonly probe: () => Promise<void>
  readonly resumable: ResumableUploads
  /** How many bytes the file system has left for this user's files. */
  readonly freeSpace: () => Promise<number>
  /** Removes the store's temporary files. Running puts and appends fail; the bytes of appends count. Stored blobs stay. */
  close(): Promise<void>
}

/**
 * Opens the store in `directory`. Every blob is a plain file; the README describes the layout for administrators. Processes and machines
 * may share the directory if their file system makes renames atomic for all of them.
 *
 * @throws Error with a message for the administrator, if the directory is a file, holds something else, has a newer layout, or is on a
 * file system that cannot keep it; TypeError or RangeError that names the missing or wrong option
 */
export async function openDiskBlobStore(options: DiskBlobStoreOptions): Promise<DiskBlobStore> {
  requireOptions('openDiskBlobStore({ directory })', options, {
    directory: requireText,
    'names?': oneOf('plain', 'escaped'),
    'writer?': requireWriter,
    'log?': having('warn'),
    'cacheBytes?': requireCount,
  })
  const { directory, names, writer = 0, log = { warn: () => {} }, cacheBytes } = options
  const data = await openDataDirectory(directory, names, log)
  const { layout, directories, tempDirectory, calls, checkMount } = data
  const journal = data.journal ?? noReplacements
  const walkBlobs = data.journal
    ? createWatchedWalk(layout, data.journal, data.isLocal)
    : createPlainWalk(layout)
  const cache = createUnchangedCache<SortedNames>(cacheBytes === undefined ? {} : { cacheBytes })
  const readBlob = createBlobReader(data.isLocal, { cache })
  /** Reports a blob as missing only if the data directory is mounted. */
  const found = async <T>(looking: Promise<T>) => {
    const result = await translateFsError(looking)
    if (!result) await checkMount()
    return result
  }
  /** Checks the mount after a walk, which may have ended early because the directory is gone. */
  const walked = async <T>(walk: Promise<T>) => {
    const result = await translateFsError(walk)
    await checkMount()
    return result
  }
  const budget = createNameBudget()
  const statsOf = createStatsOf(calls)
  /** Keeps names only where the stats of a directory are never out of date, and one directory has all names. */
  const nameCacheOf = (customer: string) =>
    data.isLocal && layout.isFlat && cache.bytes > 0
      ? createNameCache(layout.customerDirectory(customer), cache, statsOf)
      : noNameCache
  const namesOf = (customer: string, options?: ListOptions) =>
    listNames(
      { walk: (use) => walked(walkBlobs(customer, use)), budget, kept: nameCacheOf(customer) },
      options,
    )
  const stat = async (key: BlobKey) => {
    const stats = await found(fileStats(layout.blobPath(key), pooledCalls))
    return stats && blobInfo(key.name, stats)
  }
  /** The renames and removals under way that need the temporary directory. */
  const renames = new Set<Promise<unknown>>()
  const untilSettled = <T>(renaming: Promise<T>) => {
    renames.add(renaming)
    return renaming.finally(() => renames.delete(renaming))
  }
  const versionNames = createVersionNames(data)
  const site = { ...data, journal, writer, versionNames, published: createPublishedUploads() }
  const resumable = createDiskResumableUploads(site)
  const expiryNotes = createCustomerTexts(data.expiry, site, '')
  const noteKey = (customer: string) => ({ customer, name: 'rule' })

  const put: BlobStore['put'] = async (
    key,
    content,
    { createOnly = false, keepReplaced, signal, release, onReadable } = {},
  ) => {
    const target = layout.blobPath(key)
    signal?.throwIfAborted()
    if (createOnly && (await translateFsError(fileStats(target, calls)))) {
      throw nameTaken()
    }
    const options = { createOnly, signal, release, onReadable }
    const write = {
      calls,
      tempDirectory,
      directories,
      journal,
      writer,
      target,
      content,
      ...options,
      ...beforeChanging(site, key, keepReplaced),
    }
    return blobInfo(key.name, await atomicWrite(write))
  }

  return {
    put,

    async open(key, options = {}) {
      return found(readBlob(layout.blobPath(key), key.name, options))
    },

    stat,

    async delete(key, { keepReplaced } = {}) {
      return found(
        removeFile(layout.blobPath(key), calls, (stats) =>
          beforeTaking(site, key, keepReplaced, stats),
        ),
      )
    },

    async rename(key, to, { createOnly = false, keepReplaced = false } = {}) {
      const newKey = { customer: key.customer, name: to }
      const renaming = renameBlob({
        ...{ calls, tempDirectory, directories, journal, writer, createOnly },
        source: layout.blobPath(key),
        target: layout.blobPath(newKey),
        followsToNewName: keepReplaced,
        beforeLeaving: (stats) => finishLinked(site, key, stats),
        beforeReplacing: (stats) => beforeTaking(site, newKey, keepReplaced, stats),
        isNewerKept: async (stats) => keepReplaced && versionNames.hasNewer(newKey, stats),
        beforeNaming: beforeChanging(site, newKey, keepReplaced).beforeNaming,
        afterLeaving: async (stats) => {
          if (keepReplaced || stats.nlink > 1n) await versionNames.take(key, stats)
        },
      })
      const stats = await found(untilSettled(renaming))
      return stats && blobInfo(to, stats)
    },

    list: namesOf,

    listDetails: (customer, options) =>
      listDetails(
        { list: (rest) => namesOf(customer, rest), stat: (name) => stat({ customer, name }) },
        options,
      ),

    async usage(customer) {
      // A walk with a journal may find a blob twice; the list has each once.
      const measured = (names: Blobs) => measure(layout, customer, names)
      return data.journal ? measured(namesOf(customer)) : walked(walkBlobs(customer, measured))
    },

    async *customers() {
      const all = withEntries((entriesOf) => findCustomers(layout, entriesOf))
      yield* sortUtf8(await walked(all))
    },

    async probe() {
      await checkMount()
      await translateFsError(probeDirectory({ calls, tempDirectory, writer, layout }))
    },

    async freeSpace() {
      await checkMount()
      return freeSpaceOf(layout.root)
    },

    resumable,

    linkGenerations: createLinkGenerations(
      createCustomerTexts(data.links, site, ' and end the links again'),
    ),

    expiry: {
      async deleteUnchanged(customer, { name, etag }, { keepReplaced } = {}) {
        const key = { customer, name }
        return found(
          untilSettled(
            removeUnchanged({
              ...{ calls, tempDirectory, root: data.path, path: layout.blobPath(key), etag },
              beforeRemoving: (stats) => beforeTaking(site, key, keepReplaced, stats),
            }),
          ),
        )
      },
      readNote: async (customer) => (await expiryNotes.read(noteKey(customer))) ?? '',
      async writeNote(customer, note) {
        const { ctime } = await expiryNotes.write(noteKey(customer), note)
        return ctime
      },
    },

    history: createDiskHistory({ ...data, versionNames, readBlob, budget, put }),

    async close() {
      await resumable.close()
      await Promise.allSettled(renames)
      await journal.settle()
      await tempDirectory.close()
    },
  }
}

/** The parts of a store that a probe uses. */
type ProbedDirectory = Pick<AtomicWrite, 'calls' | 'tempDirectory' | 'writer'> & {
  readonly layout: Layout
}

const content = Buffer.from('holdfast')

let probes = 0

/**
 * Writes a small file durably, reads it, and removes it durably, with the calls that blobs take. It works in the store's temporary
 * directory, so that the next start removes what a killed process leaves. It also checks that this user may read and write where the blobs
 * are. Rejects with the first failure.
 */
async function probeDirectory({ layout, ...store }: ProbedDirectory): Promise<void> {
  await access(layout.root, constants.R_OK | constants.W_OK | constants.X_OK)
  // The dot keeps this name apart from those of temporary files.
  const target = join(store.tempDirectory.path, `probe.${probes++}`)
  try {
    const directories = noDirectories
    await atomicWrite({ ...plainWrite, ...store, directories, target, content: chunks() })
    if (!content.equals(await readFile(target))) {
      throw new Error('The probe read other bytes than it wrote')
    }
    await removeFile(target, store.calls, noPreparation.beforeReplacing)
  } catch (error) {
    await store.tempDirectory.remove(target)
    throw error
  }
}

async function* chunks() {
  yield content
}

/** For a target whose directory exists. */
const noDirectories = { within: (_: string, change: () => Promise<void>) => change() }

/** Short texts that the store keeps for customers, each in a file of its own. */
interface CustomerTexts {
  /** The text, without the line break at its end; `undefined` if there is none. */
  read(key: BlobKey): Promise<string | undefined>
  /** Replaces the text durably, and resolves with the stats of its file. */
  write(key: BlobKey, text: string): Promise<BigIntStats>
}

/** Longer than any text. */
const longest = 256

type Site = Pick<
  DataDirectory,
  'metadataDirectories' | 'tempDirectory' | 'checkMount' | 'calls'
> & {
  /** The number of this process among those that share the directory. */
  readonly writer: number
}

/**
 * Keeps texts in files of `layout`, each at the path of the blob with that key. `afterDamage` ends the error about a damaged file, and says
 * what to do once it is removed.
 */
export function createCustomerTexts(
  layout: DataDirectory['links'],
  { metadataDirectories: directories, tempDirectory, checkMount, calls, writer }: Site,
  afterDamage: string,
): CustomerTexts {
  const readFile = async (path: string): Promise<string | undefined> => {
    const file = await calls.open(path, 'r').catch(undefinedIfAbsent)
    if (file === undefined) return undefined
    try {
      const bytes = Buffer.alloc(longest)
      return bytes.toString('latin1', 0, await calls.read(file, bytes, 0)).trim()
    } finally {
      await calls.close(file)
    }
  }

  return {
    async read(key) {
      const path = layout.blobPath(key)
      const text = await translateFsError(readFile(path))
      if (text === '') throw new Error(`${path} is damaged: remove it${afterDamage}`)
      // Without the disk, every text would be missing.
      if (text === undefined) await checkMount()
      return text
    },
    write: (key, text) =>
      atomicWrite({
        ...{ calls, tempDirectory, directories, writer, target: layout.blobPath(key) },
        content: oneChunk(Buffer.from(`${text}\n`)),
        ...plainWrite,
      }),
  }
}

async function* oneChunk(bytes: Uint8Array) {
  yield bytes
}

/** The generations of links, each in a file of its own below `links/`; see the README. A customer without one has the first. */
export function createLinkGenerations(texts: CustomerTexts): LinkGenerations {
  const keyOf = (customer: string) => ({ customer, name: 'generation' })
  return {
    read: async (customer) => (await texts.read(keyOf(customer))) ?? '',
    async renew(customer) {
      const generation = randomBytes(16).toString('hex')
      await texts.write(keyOf(customer), generation)
      return generation
    },
  }
}
