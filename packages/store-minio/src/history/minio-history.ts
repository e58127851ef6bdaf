import { randomUUID } from 'node:crypto'
import type { BlobKey, History, KeptBlob, ListOptions, Usage } from '@holdfast/core'
import { blobInfo, type ObjectRef } from '../keys/object-keys.ts'
import { entriesOf, listCustomers, type Lister, type Listing } from '../list/list-blobs.ts'
import { inSeconds, listVersions, versionsOfKey, type ListedVersion } from '../list/list-objects.ts'
import type { ObjectRead } from '../read/get-object.ts'
import { readBlob } from '../read/read-blob.ts'
import { statObject } from '../read/stat-object.ts'
import { copyObject } from '../write/copy-object.ts'
import { describeWritten, type ObjectWrite } from '../write/object-write.ts'
import { removeVersions } from '../write/own-objects.ts'

/** What the history needs of its store. */
export interface HistoryObjects {
  readonly listing: Listing
  readonly objectOf: (key: BlobKey) => ObjectRead
  readonly ours: Pick<ObjectWrite, 'changing' | 'removals' | 'budget' | 'underWay' | 'log'>
}

/**
 * The history of a bucket that keeps versions. The bucket itself keeps what is replaced or deleted, whoever does it: a version that is not
 * the newest of its key was replaced when the next newer one, or a delete marker, was made.
 */
export function createMinioHistory({ listing, objectOf, ours }: HistoryObjects): History {
  const { s3, bucket } = listing
  return {
    async *versions(key, { before, limit = Infinity } = {}) {
      let [left, isOlder] = [limit, before === undefined]
      // The present object and a delete marker come first.
      const pageSize = Math.min(1000, limit + 2)
      for await (const page of keptOf(objectOf(key), pageSize)) {
        const start = isOlder ? 0 : page.findIndex(({ version }) => version === before) + 1
        // What is gone was purged, and all older ones with it.
        isOlder ||= start > 0
        const wanted = isOlder ? page.slice(start, start + left) : []
        left -= wanted.length
        if (wanted.length > 0) yield wanted
        if (left === 0) return
      }
    },

    deleted: (customer, options = {}) => listDeleted(listing, customer, options),

    async *kept(customer) {
      for await (const entries of replacedOf(listing, customer)) {
        const page = entries.flatMap(({ name, object, newer }) =>
          newer && !object.isMarker ? describe(name, object, newer) : [],
        )
        if (page.length > 0) yield page
      }
    },

    async open({ version, ...key }, options = {}) {
      const object = objectOf(key)
      const kept = await findKept(object, version)
      return kept && readBlob({ ...object, version }, options)
    },

    async restore({ version, ...key }, to, { createOnly = false } = {}) {
      const object = objectOf(key)
      const kept = await findKept(object, version)
      if (kept === undefined) return undefined
      const target = objectOf({ ...key, name: to })
      const write = { ...target, ...ours, createOnly, mark: randomUUID() }
      const { size, etag } = kept
      const source = { key: object.key, version, size, etag: `"${etag}"` }
      const written = await copyObject(source, write)
      if (written === undefined) return undefined
      return describeWritten(written, to, await statObject(target).catch(() => undefined))
    },

    async purge(customer, before) {
      let usage: Usage = { blobs: 0, bytes: 0 }
      const remove = async (outdated: readonly ListedVersion[]) => {
        await removeVersions(s3, bucket, outdated)
        const versions = outdated.filter(({ isMarker }) => !isMarker)
        const bytes = versions.reduce((sum, { size }) => sum + size, 0)
        usage = { blobs: usage.blobs + versions.length, bytes: usage.bytes + bytes }
      }
      // Of the last key. They are removed once the list has left it: it goes on after a version that must still be there.
      let entriesOfKey: Entry[] = []
      for await (const entries of replacedOf(listing, customer)) {
        const byKey = Map.groupBy([...entriesOfKey, ...entries], ({ object }) => object.key)
        const ofKeys = [...byKey.values()]
        entriesOfKey = ofKeys.pop() ?? []
        await remove(ofKeys.flatMap((each) => outdatedOf(each, before)))
      }
      await remove(outdatedOf(entriesOfKey, before))
      return usage
    },

    customers: () => listCustomers(listing, listVersions),
  }
}

/** An entry of a list of versions, with the next newer one of the same name. */
interface Entry {
  readonly name: string
  readonly object: ListedVersion
  readonly newer: ListedVersion | undefined
}

const allVersions: Lister<ListedVersion> = async function* (request) {
  for await (const { versions } of listVersions(request)) yield versions
}

/** All versions and delete markers of a customer, in the order of the names, of each the newest first; in pages. */
async function* replacedOf(
  listing: Listing,
  customer: string,
  options: ListOptions = {},
): AsyncGenerator<readonly Entry[]> {
  let last: ListedVersion | undefined
  for await (const page of entriesOf(listing, customer, options, allVersions)) {
    yield page.map(({ name, object }) => {
      // Whatever the order of the list: the newest was not replaced.
      const newer = last?.key === object.key && !object.isLatest ? last : undefined
      last = object
      return { name, object, newer }
    })
  }
}

async function* listDeleted(
  listing: Listing,
  customer: string,
  { limit = Infinity, ...options }: ListOptions,
): AsyncGenerator<readonly KeptBlob[]> {
  let left = limit
  // Whether nothing but delete markers was found of the name so far.
  let isOpen = false
  for await (const entries of replacedOf(listing, customer, options)) {
    const page: KeptBlob[] = []
    for (const { name, object, newer } of entries) {
      if (newer === undefined) isOpen = object.isMarker
      if (!isOpen || !newer || object.isMarker || page.length === left) continue
      page.push(describe(name, object, newer))
      isOpen = false
    }
    left -= page.length
    if (page.length > 0) yield page
    if (left === 0) return
  }
}

/** What is kept of an object, newest first, in pages of which some may be empty. */
async function* keptOf(
  { name, ...object }: ObjectRef & Pick<ObjectRead, 'name'>,
  pageSize?: number,
): AsyncGenerator<readonly KeptBlob[]> {
  let newer: ListedVersion | undefined
  for await (const versions of versionsOfKey(object, pageSize)) {
    const page: KeptBlob[] = []
    for (const found of versions) {
      if (newer && !found.isMarker && !found.isLatest) page.push(describe(name, found, newer))
      newer = found
    }
    yield page
  }
}

async function findKept(
  object: ObjectRef & Pick<ObjectRead, 'name'>,
  version: string,
): Promise<KeptBlob | undefined> {
  for await (const page of keptOf(object)) {
    const found = page.find((kept) => kept.version === version)
    if (found) return found
  }
  return undefined
}

function describe(name: string, found: ListedVersion, newer: ListedVersion): KeptBlob {
  const { version, size, etag } = found
  const info = blobInfo(name, { size, etag, modifiedAt: inSeconds(found.modifiedAt) })
  return { ...info, version, replacedAt: newer.modifiedAt }
}

/**
 * What a purge removes of the entries of one key, newest first: versions that were replaced before the time, and delete markers from before
 * it that have nothing older under the key. These hide nothing. A marker above a version that goes now stays until the next purge: if a
 * power cut undid the removal of the version, but not that of the marker, the version would be a file again.
 */
function outdatedOf(entries: readonly Entry[], before: Date): ListedVersion[] {
  const lowest = entries.findLastIndex(({ object }) => !object.isMarker)
  return entries.flatMap(({ object, newer }, index) => {
    const isOutdated = object.isMarker
      ? index > lowest && object.modifiedAt < before
      : newer !== undefined && newer.modifiedAt < before
    return isOutdated ? [object] : []
  })
}
