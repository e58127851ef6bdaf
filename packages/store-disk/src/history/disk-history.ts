import type { BigIntStats } from 'node:fs'
import { rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import type {
  BlobKey,
  BlobStore,
  History,
  KeptBlob,
  KeptKey,
  ListOptions,
  OpenBlob,
  OpenOptions,
  Usage,
  VersionOptions,
} from '@holdfast/core'
import type { DataDirectory } from '../directory/data-directory.ts'
import { changeDurably } from '../files/change-durably.ts'
import { crashPoint } from '../files/crash-point.ts'
import { requireRoom } from '../files/file-system.ts'
import {
  blobInfo,
  fileStats,
  pooledCalls,
  isAbsence,
  isSystemError,
  translateFsError,
  undefinedIfAbsent,
} from '../files/file-calls.ts'
import { concurrently, withEntries } from '../list/directory-entries.ts'
import { noNameCache, type NameBudget, listNames, type NameSource } from '../list/list-names.ts'
import { findCustomers, findDirectories } from '../list/walk-blobs.ts'
import type { ReadBlob } from '../read/blob-reader.ts'
import { isVersion, openDirectory, versionOf, type VersionNames } from './version-names.ts'

export interface HistorySite extends Pick<DataDirectory, 'layout' | 'versions' | 'checkMount'> {
  readonly versionNames: VersionNames
  readonly readBlob: ReadBlob
  readonly put: BlobStore['put']
  /** Limits the names in memory. */
  readonly budget: NameBudget
}

/**
 * The earlier versions in the directories of `version-names.ts`. A file there is one if it is not the blob's present file. The time of its
 * last change of status (`ctime`) is the one at which it lost the blob's name: nothing but a restored backup changes it afterwards.
 */
export function createDiskHistory(site: HistorySite): History {
  const { layout, versions, checkMount, versionNames, put, budget } = site
  const directoryOf = (key: BlobKey) => versionNames.directoryOf(key)

  /** Whatever a walk finds or does not find is certain only while the disk is mounted. */
  const mounted = async <T>(looking: Promise<T>): Promise<T> => {
    const result = await translateFsError(looking)
    await checkMount()
    return result
  }

  const versionsOf = async function* (key: BlobKey, options: VersionOptions = {}) {
    let { before, limit = Infinity } = options
    while (limit > 0) {
      // One of them may be the present file.
      const most = Math.min(limit + 1, namesAtOnce)
      const names = await mounted(newestNames(directoryOf(key), most, before))
      for (let at = 0; at < names.length; at += pageLength) {
        const found = await mounted(keptOf(site, key, names.slice(at, at + pageLength)))
        const page = found.slice(0, limit)
        limit -= page.length
        if (page.length > 0) yield page
        if (limit === 0) return
      }
      before = names.at(-1)
      if (names.length < most) return
    }
  }

  /** The last version of a name without a blob. */
  const deletedAs = async (key: BlobKey): Promise<readonly KeptBlob[]> => {
    if (await presentStats(site, key)) return []
    const last = await newestNames(directoryOf(key), 1)
    return keptOf(site, key, last)
  }

  /** The names that have a directory of versions. */
  const namesOf = (customer: string, options: ListOptions = {}) => {
    const walk: NameSource['walk'] = (use) =>
      mounted(withEntries((entriesOf) => use(findDirectories(versions, customer, entriesOf))))
    return listNames({ walk, budget, kept: noNameCache }, options)
  }

  const deleted = async function* (
    customer: string,
    { limit: most = Infinity, ...options }: ListOptions = {},
  ) {
    let limit = most
    for await (const names of namesOf(customer, options)) {
      const found = await mounted(concurrently(names, (name) => deletedAs({ customer, name })))
      const page = found.flat().slice(0, limit)
      limit -= page.length
      if (page.length > 0) yield page
      if (limit === 0) return
    }
  }

  const kept = async function* (customer: string) {
    for await (const names of namesOf(customer)) {
      for (let at = 0; at < names.length; at += namesPerPage) {
        const keys = names.slice(at, at + namesPerPage).map((name) => ({ customer, name }))
        const firsts = await mounted(concurrently(keys, firstOf))
        yield* pagesOf(firsts.flatMap(({ found }) => found))
        for (const { key, isAll } of firsts) {
          if (isAll) continue
          for await (const batch of batchesIn(directoryOf(key))) {
            yield* pagesOf(await mounted(keptOf(site, key, batch)))
          }
        }
      }
    }
  }
  /** The earlier versions of a name, unless they are more than a batch. */
  const firstOf = async (key: BlobKey) => {
    for await (const batch of batchesIn(directoryOf(key))) {
      const isAll = batch.length < pageLength
      return { key, isAll, found: isAll ? await keptOf(site, key, batch) : [] }
    }
    return { key, isAll: true, found: [] }
  }

  /** A version that is found needs no check, which could fail while the version is open. */
  const openMounted = async (key: KeptKey, options?: OpenOptions) => {
    const opened = await translateFsError(openKept(site, key, options))
    if (!opened) await checkMount()
    return opened
  }

  return {
    versions: versionsOf,
    deleted,
    kept,

    open: openMounted,

    async restore(key, to, options = {}) {
      const opened = await openMounted(key)
      if (!opened) return undefined
      try {
        await requireRoom(layout.root, opened.info.size)
        const target = { customer: key.customer, name: to }
        return await put(target, opened.content, { ...options, keepReplaced: true })
      } finally {
        await opened.close()
      }
    },

    async purge(customer, before) {
      const usage = { blobs: 0, bytes: 0 }
      for await (const names of namesOf(customer)) {
        const purged = await mounted(
          concurrently(names, (name) => purgeName(site, { customer, name }, before)),
        )
        for (const { blobs, bytes } of purged) {
          usage.blobs += blobs
          usage.bytes += bytes
        }
      }
      return usage
    },

    async *customers() {
      yield* await mounted(withEntries((entriesOf) => findCustomers(versions, entriesOf)))
    },
  }
}

async function openKept(
  { layout, versionNames, readBlob }: HistorySite,
  { version, ...key }: KeptKey,
  options?: OpenOptions,
): Promise<OpenBlob | undefined> {
  if (!isVersion(version)) return undefined
  const path = join(versionNames.directoryOf(key), version)
  const opened = await readBlob(path, key.name, options ?? {})
  if (!opened) return undefined
  try {
    const present = await fileStats(layout.blobPath(key), pooledCalls)
    if (!present || blobInfo(key.name, present).etag !== opened.info.etag) return opened
  } catch (error) {
    await opened.close()
    throw error
  }
  await opened.close()
  return undefined
}

/** The most names of versions that are held in memory at a time; some 100 bytes each. */
const namesAtOnce = 65_536

const pageLength = 1024

/** How many names are looked at for a page, each with at most {@link pageLength} versions. */
const namesPerPage = 64

function* pagesOf<T>(entries: readonly T[]): Iterable<readonly T[]> {
  for (let at = 0; at < entries.length; at += pageLength) yield entries.slice(at, at + pageLength)
}

const presentStats = ({ layout }: Pick<HistorySite, 'layout'>, key: BlobKey) =>
  fileStats(layout.blobPath(key), pooledCalls)

/** The names of the newest versions in `directory`, at most `most`, newest first, only those `before` one of them. */
async function newestNames(
  directory: string,
  most: number,
  before?: string,
): Promise<readonly string[]> {
  let names: string[] = []
  const keepNewest = () => {
    names.sort().reverse()
    names = names.slice(0, most)
  }
  for await (const { name } of await openDirectory(directory)) {
    if (!isVersion(name) || (before !== undefined && name >= before)) continue
    names.push(name)
    if (names.length >= 2 * most + pageLength) keepNewest()
  }
  keepNewest()
  return names
}

/** The names of all versions in `directory`, in no order, in batches of at most 1,024. */
async function* batchesIn(directory: string): AsyncIterable<readonly string[]> {
  let names: string[] = []
  for await (const { name } of await openDirectory(directory)) {
    if (!isVersion(name)) continue
    names.push(name)
    if (names.length < pageLength) continue
    yield names
    names = []
  }
  if (names.length > 0) yield names
}

/** The earlier versions among those with these names: all that are not the present file. */
async function keptOf(
  site: HistorySite,
  key: BlobKey,
  names: readonly string[],
): Promise<readonly KeptBlob[]> {
  const directory = site.versionNames.directoryOf(key)
  const before = await presentStats(site, key)
  // Most names have no version but the present file.
  const others = before ? names.filter((name) => name !== versionOf(before)) : names
  if (others.length === 0) return []
  const found = await concurrently(others, async (version) => {
    const stats = await fileStats(join(directory, version), pooledCalls)
    return stats && { version, stats }
  })
  // Looked up again: another file may have become the blob in between, and has its version already.
  const present = await presentStats(site, key)
  return found.flatMap((one) =>
    one && one.stats.ino !== present?.ino ? [describe(key, one.version, one.stats)] : [],
  )
}

function describe({ name }: BlobKey, version: string, stats: BigIntStats): KeptBlob {
  return { ...blobInfo(name, stats), version, replacedAt: stats.ctime }
}

/** Removes the versions of a name that were replaced before a time, durably, and the directory if it is empty then. */
async function purgeName(site: HistorySite, key: BlobKey, before: Date): Promise<Usage> {
  const directory = site.versionNames.directoryOf(key)
  let [blobs, bytes] = [0, 0]
  for await (const names of batchesIn(directory)) {
    const kept = await keptOf(site, key, names)
    const outdated = kept.filter(({ replacedAt }) => replacedAt < before)
    if (outdated.length === 0) continue
    const remove = async () => {
      for (const { version, size } of outdated) {
        if (!(await unlinkIfThere(join(directory, version)))) continue
        crashPoint('version-removed')
        blobs++
        bytes += size
      }
    }
    // Others that purge, too, may have removed the directory.
    await changeDurably(directory, remove).catch(undefinedIfAbsent)
    crashPoint('version-removal-synced')
  }
  await rmdir(directory).catch((error: unknown) => {
    if (!isAbsence(error) && !isSystemError(error, 'ENOTEMPTY', 'EEXIST')) throw error
  })
  return { blobs, bytes }
}

/** Resolves with whether there was a file. */
async function unlinkIfThere(path: string): Promise<boolean> {
  try {
    await pooledCalls.unlink(path)
    return true
  } catch (error) {
    if (isAbsence(error)) return false
    throw error
  }
}
