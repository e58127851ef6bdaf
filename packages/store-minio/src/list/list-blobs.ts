import type { S3Client } from '@aws-sdk/client-s3'
import {
  compareUtf8,
  nameProblem,
  type BlobInfo,
  type ListOptions,
  type Usage,
} from '@holdfast/core'
import {
  blobInfo,
  type ObjectKeys,
  isPlain,
  nameEncodings,
  type NameEncoding,
} from '../keys/object-keys.ts'
import { listObjects, type ListedObject, type ListRequest } from './list-objects.ts'

/** The bucket in which blobs are listed. */
export interface Listing {
  readonly s3: S3Client
  readonly bucket: string
  readonly keys: ObjectKeys
}

/** The names of a customer's blobs, in pages. Skips everything else in the bucket. */
export function listNames(
  listing: Listing,
  customer: string,
  options: ListOptions,
): AsyncIterable<readonly string[]> {
  return listEntries(listing, customer, options, ({ name }) => name)
}

/** The details of a customer's blobs, in pages. */
export function listDetails(
  listing: Listing,
  customer: string,
  options: ListOptions,
): AsyncIterable<readonly BlobInfo[]> {
  return listEntries(listing, customer, options, ({ name, object }) => blobInfo(name, object))
}

async function* listEntries<T>(
  listing: Listing,
  customer: string,
  options: ListOptions,
  describe: (blob: Named<ListedObject>) => T,
): AsyncGenerator<readonly T[]> {
  const { limit = Infinity } = options
  let left = limit
  for await (const wanted of entriesOf(listing, customer, options, blobsOf)) {
    const page = wanted.slice(0, left)
    left -= page.length
    if (page.length > 0) yield page.map(describe)
    if (left === 0) return
  }
}

/**
 * What `list` finds directly below a customer's folder, with the names of the blobs, in their order and in pages, of which some may be
 * empty. The limit only says how much to request at once.
 */
export async function* entriesOf<T extends { readonly key: string }>(
  listing: Listing,
  customer: string,
  { prefix = '', after = '', limit = Infinity }: ListOptions,
  list: Lister<T>,
): AsyncGenerator<readonly Named<T>[]> {
  // Half of a surrogate pair at the end may begin names, but cannot be sent.
  const sound = prefix.slice(0, prefix.isWellFormed() ? prefix.length : -1)
  if (!canBegin(sound)) return
  const cut = { prefix: sound, after, pageSize: Math.min(1000, limit) }
  const base = listing.keys.customerPrefix(customer)
  for await (const entries of entriesBelow(listing, base, list, cut)) {
    yield entries.filter(({ name }) => name.startsWith(prefix) && compareUtf8(name, after) > 0)
  }
}

/** Counts the blobs of a customer and their bytes. */
export async function measure(listing: Listing, customer: string): Promise<Usage> {
  const usage = { blobs: 0, bytes: 0 }
  const base = listing.keys.customerPrefix(customer)
  for await (const blobs of entriesBelow(listing, base, blobsOf)) {
    usage.blobs += blobs.length
    for (const { object } of blobs) usage.bytes += object.size
  }
  return usage
}

/** The names of the customers who have a folder in the list: by default those who have a blob. Holds all of them in memory. */
export async function* listCustomers(
  listing: Listing,
  list: FolderList = listObjects,
): AsyncGenerator<string> {
  const names: string[] = []
  for await (const folders of entriesBelow(listing, listing.keys.prefix, foldersOf(list))) {
    for (const { name } of folders) names.push(name)
  }
  // S3 orders folders by their names with a slash appended: "a b/" comes before "a/".
  yield* names.sort(compareUtf8)
}

interface Cut {
  readonly prefix: string
  readonly after: string
  readonly pageSize: number
}

export interface Named<T> {
  readonly name: string
  readonly object: T
}

/** Lists the wanted entries in pages, with their whole keys. Entries of one key follow one another. */
export type Lister<T extends { readonly key: string }> = (
  request: ListRequest,
) => AsyncIterable<readonly T[]>

async function* blobsOf(request: ListRequest): AsyncGenerator<readonly ListedObject[]> {
  for await (const { objects } of listObjects(request)) yield objects
}

/** A list that has folders. */
type FolderList = (request: ListRequest) => AsyncIterable<{ readonly folders: readonly string[] }>

const foldersOf = (list: FolderList): Lister<{ readonly key: string }> =>
  async function* (request) {
    for await (const { folders } of list(request)) {
      yield folders.map((folder) => ({ key: folder.slice(0, -1) }))
    }
  }

const everything: Cut = { prefix: '', after: '', pageSize: 1000 }

/** What is directly below `base`, in order and in pages. With a cut, yields all that is in the cut, and perhaps more. */
function entriesBelow<T extends { readonly key: string }>(
  listing: Listing,
  base: string,
  list: Lister<T>,
  cut: Cut = everything,
): AsyncIterable<readonly Named<T>[]> {
  const ways = nameEncodings.map((encoding) => entriesIn(encoding, listing, base, list, cut))
  return mergePages(ways, (a, b) => compareUtf8(a.name, b.name))
}

async function* entriesIn<T extends { readonly key: string }>(
  { folder, encode, decode }: NameEncoding,
  { s3, bucket }: Listing,
  base: string,
  list: Lister<T>,
  cut: Cut,
): AsyncGenerator<readonly Named<T>[]> {
  const [prefix, after] = [safeStart(encode(cut.prefix)), safeStart(encode(cut.after))]
  // S3 servers treat a start outside the prefix differently.
  if (!after.startsWith(prefix) && compareUtf8(after, prefix) > 0) return
  const isWithin = after !== '' && after.startsWith(prefix)
  const start = base + folder
  const pages = list({
    s3,
    bucket,
    prefix: start + prefix,
    pageSize: cut.pageSize,
    ...(isWithin && { after: start + after }),
  })
  for await (const page of pages) {
    const named: Named<T>[] = []
    let isBehind = false
    for (const object of page) {
      const name = decode(object.key.slice(start.length))
      if (name === undefined) continue
      isBehind = !name.startsWith(cut.prefix) && compareUtf8(name, cut.prefix) > 0
      if (isBehind) break
      named.push({ name, object })
    }
    yield named
    if (isBehind) return
  }
}

/**
 * The longest beginning of `text` that can be a key: servers that store objects as files refuse a list that starts from or below an
 * invalid path. The caller skips the entries before `text`.
 */
function safeStart(text: string): string {
  let [start, safe] = ['', '']
  for (const character of text) {
    start += character
    if (start.length > 255 || character === '/' || !character.isWellFormed()) break
    if (isPlain(start)) safe = start
  }
  return safe
}

/** Whether there are names that begin with `text`. */
function canBegin(text: string): boolean {
  return text === '' || text === '.' || text === '..' || nameProblem(text) === undefined
}

/** Entries in a merged page. */
const pageLength = 1000

/** A source of pages, at an entry of its current page; after the last page that is `undefined`. */
interface Source<T> {
  readonly iterator: AsyncIterator<readonly T[]>
  page: readonly T[] | undefined
}

/**
 * Merges the entries of all sorted `sources`, in order, in pages of up to a thousand, none of them empty. Requests one page of each source
 * in advance, and closes all sources at the end.
 */
async function* mergePages<T>(
  sources: readonly AsyncIterable<readonly T[]>[],
  compare: (a: T, b: T) => number,
): AsyncGenerator<readonly T[]> {
  const all: Source<T>[] = sources.map((source) => ({
    iterator: source[Symbol.asyncIterator](),
    page: [],
  }))
  try {
    for (;;) {
      await Promise.all(all.map(refill))
      const merged = takeSettled(all, compare)
      if (merged.length === 0) return
      for (let at = 0; at < merged.length; at += pageLength) {
        yield merged.slice(at, at + pageLength)
      }
    }
  } finally {
    await Promise.all(all.map(async ({ iterator }) => iterator.return?.()))
  }
}

/** Fetches the next page that is not empty if the current one is. */
async function refill<T>(source: Source<T>): Promise<void> {
  while (source.page?.length === 0) {
    const next = await source.iterator.next()
    source.page = next.done === true ? undefined : next.value
  }
}

/** Takes the entries that no later page can precede: all up to the end of the page that ends first. */
function takeSettled<T>(sources: readonly Source<T>[], compare: (a: T, b: T) => number): T[] {
  const ends = sources.flatMap(({ page }) => page?.at(-1) ?? [])
  const [end] = ends.sort(compare)
  if (end === undefined) return []
  const taken: T[] = []
  for (const source of sources) {
    const page = source.page ?? []
    const later = page.findIndex((entry) => compare(entry, end) > 0)
    const settled = later === -1 ? page.length : later
    taken.push(...page.slice(0, settled))
    source.page = source.page?.slice(settled)
  }
  return taken.sort(compare)
}
