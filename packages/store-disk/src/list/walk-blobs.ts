import { setTimeout as delay } from 'node:timers/promises'
import { lstat, stat } from 'node:fs/promises'
import { sep } from 'node:path'
import { isUtf8 } from 'node:buffer'
import type { Usage } from '@holdfast/core'
import type { Layout } from '../directory/layout.ts'
import { undefinedIfAbsent } from '../files/file-calls.ts'
import { DisturbedWalk, MarkerFailure } from '../temp/notes.ts'
import type { ReplacementJournal } from '../temp/replacement-journal.ts'
import {
  concurrently,
  withEntries,
  type EntriesOf,
  type DirectoryEntry,
} from './directory-entries.ts'

/** The names of a customer's blobs, in no order, in batches as they are found. */
export type Blobs = AsyncIterable<readonly string[]>

/**
 * Resolves with the result of `use`, called with the blobs of `customer`. They include each blob that exists throughout. If another walk
 * is needed, calls `use` again, with all blobs from the beginning; a blob may come twice.
 */
type WalkBlobs = <T>(customer: string, use: (blobs: Blobs) => Promise<T>) => Promise<T>

/** A walk for file systems where a replaced file keeps its directory entry: each blob comes once, in one walk. */
export function createPlainWalk(layout: Layout): WalkBlobs {
  return (customer, use) => withEntries((entriesOf) => use(findBlobs(layout, customer, entriesOf)))
}

/** The most walks of a directory that changes. A walk is disturbed only if its marker is removed by hand. */
const attempts = 3

/** How long to wait for a directory to stop changing: so many pauses of so many milliseconds. */
const pause = 60
const pauses = 20

/**
 * A walk for file systems where a replaced file may move. Where `isLocal`, it first walks without writing anything, which succeeds if the
 * directory does not change: other file systems may report a change late. Otherwise the processes that replace files leave notes for the
 * walk.
 */
export function createWatchedWalk(
  layout: Layout,
  journal: ReplacementJournal,
  isLocal: boolean,
): WalkBlobs {
  const walkUnchanged: WalkBlobs = (customer, use) =>
    withEntries((entriesOf) => use(findBlobs(layout, customer, unchangedEntriesOf(entriesOf))))

  const walkNoted: WalkBlobs = (customer, use) =>
    journal.watch((replaced) =>
      withEntries((entriesOf) => use(findWithReplaced(layout, customer, entriesOf, replaced))),
    )

  /** For when no marker can be made, as on a full disk, where few uploads succeed. */
  const walkAtRest: WalkBlobs = async (customer, use) => {
    for (let at = 1; ; at++) {
      await delay(pause)
      const outcome = await unlessDisturbed(walkUnchanged(customer, use))
      if (outcome) return outcome.result
      if (at === pauses) throw new DisturbedWalk('The directory does not come to rest')
    }
  }

  return async (customer, use) => {
    const still = isLocal ? await unlessDisturbed(walkUnchanged(customer, use)) : undefined
    if (still) return still.result
    try {
      for (let attempt = 1; attempt < attempts; attempt++) {
        const noted = await unlessDisturbed(walkNoted(customer, use))
        if (noted) return noted.result
      }
      return await walkNoted(customer, use)
    } catch (error) {
      if (!(error instanceof MarkerFailure)) throw error
      return await walkAtRest(customer, use).catch((failure: unknown) => {
        throw failure instanceof DisturbedWalk ? error.cause : failure
      })
    }
  }
}

async function unlessDisturbed<T>(walk: Promise<T>): Promise<{ readonly result: T } | undefined> {
  try {
    return { result: await walk }
  } catch (error) {
    if (error instanceof DisturbedWalk) return undefined
    throw error
  }
}

async function* findWithReplaced(
  layout: Layout,
  customer: string,
  entriesOf: EntriesOf,
  replaced: () => Promise<readonly string[]>,
): Blobs {
  yield* findBlobs(layout, customer, entriesOf)
  const directory = layout.customerDirectory(customer) + sep
  const names: string[] = []
  for (const path of await replaced()) {
    if (!path.startsWith(directory)) continue
    const name = layout.nameAt(path.slice(directory.length).split(sep))
    if (name !== undefined && (await isThere(path))) names.push(name)
  }
  yield names
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(undefinedIfAbsent))?.isFile() ?? false
}

/**
 * Milliseconds for which a directory must not have changed before it is read. Two changes within a tick of the kernel's
 * clock, 10 ms at most, may have the same time; so may two within a second where times are counted in seconds, as Deno
 * and some file systems do.
 */
function settlingTime(changedAt: bigint): number {
  return changedAt % 1_000_000_000n === 0n ? 1_050 : 50
}

/** Yields the entries of a directory only while its time of last change (ctime) stays the same. @throws DisturbedWalk */
function unchangedEntriesOf(entriesOf: EntriesOf): EntriesOf {
  return async function* (directory) {
    const before = await changedAt(directory)
    if (before !== undefined && Date.now() - Number(before / 1_000_000n) < settlingTime(before)) {
      throw new DisturbedWalk()
    }
    yield* entriesOf(directory)
    if ((await changedAt(directory)) !== before) throw new DisturbedWalk()
  }
}

/** In nanoseconds since 1970. */
async function changedAt(directory: string): Promise<bigint | undefined> {
  return (await stat(directory, { bigint: true }).catch(undefinedIfAbsent))?.ctimeNs
}

/**
 * The names of a customer's blobs, in no order, in batches: of every regular file with a valid name. Skips other entries, which an
 * administrator put there.
 */
function findBlobs(
  layout: Layout,
  customer: string,
  entriesOf: EntriesOf,
): AsyncIterable<readonly string[]> {
  const walk = { layout, entriesOf, isWanted: (entry: DirectoryEntry) => entry.isFile() }
  return find(walk, layout.customerDirectory(customer), [])
}

/** The names of a customer that have a directory of their own in `layout`, in no order, in batches. */
export function findDirectories(
  layout: Layout,
  customer: string,
  entriesOf: EntriesOf,
): AsyncIterable<readonly string[]> {
  const walk = { layout, entriesOf, isWanted: (entry: DirectoryEntry) => entry.isDirectory() }
  return find(walk, layout.customerDirectory(customer), [])
}

/**
 * The customers who have a directory, in no order; all of their blobs may be deleted. Follows a symbolic link, as the path of a blob does.
 */
export async function findCustomers(layout: Layout, entriesOf: EntriesOf): Promise<string[]> {
  const isWanted = (entry: DirectoryEntry) => entry.isDirectory() || entry.isSymbolicLink()
  const customers: string[] = []
  for await (const batch of find({ layout, entriesOf, isWanted }, layout.root, [])) {
    for (const name of batch) {
      if (await isDirectory(layout.customerDirectory(name))) customers.push(name)
    }
  }
  return customers
}

interface Walk {
  readonly layout: Layout
  readonly entriesOf: EntriesOf
  readonly isWanted: (entry: DirectoryEntry) => boolean
}

/**
 * The names that the layout gives to wanted entries in `directory` and below; `parents` are the components from where names begin to
 * `directory`.
 */
async function* find(
  walk: Walk,
  directory: string,
  parents: readonly string[],
): AsyncGenerator<readonly string[]> {
  const { layout, entriesOf, isWanted } = walk
  for await (const entries of entriesOf(directory)) {
    const names: string[] = []
    for (const entry of entries) {
      const component = textOf(entry.name)
      if (component === undefined) continue
      const components = [...parents, component]
      if (entry.isDirectory() && layout.holdsMore(component)) {
        yield* find(walk, directory + sep + component, components)
      }
      const name = isWanted(entry) ? layout.nameAt(components) : undefined
      if (name !== undefined) names.push(name)
    }
    yield names
  }
}

const ascii = /^[\u0000-\u007f]*$/

/** The text that `bytes` are in UTF-8; `undefined` if they are not UTF-8: decoding would give another name. */
function textOf(bytes: string): string | undefined {
  if (ascii.test(bytes)) return bytes
  const buffer = Buffer.from(bytes, 'latin1')
  return isUtf8(buffer) ? buffer.toString() : undefined
}

async function isDirectory(path: string): Promise<boolean> {
  return (await stat(path).catch(undefinedIfAbsent))?.isDirectory() ?? false
}

/** Counts the blobs called as in `names` that still exist, and sums their sizes. */
export async function measure(
  layout: Layout,
  customer: string,
  names: AsyncIterable<readonly string[]>,
): Promise<Usage> {
  const usage = { blobs: 0, bytes: 0 }
  for await (const batch of names) {
    await concurrently(batch, async (name) => {
      const size = await sizeOf(layout.blobPath({ customer, name }))
      if (size === undefined) return
      usage.blobs++
      usage.bytes += size
    })
  }
  return usage
}

async function sizeOf(path: string): Promise<number | undefined> {
  const stats = await lstat(path).catch(undefinedIfAbsent)
  return stats?.isFile() ? stats.size : undefined
}
