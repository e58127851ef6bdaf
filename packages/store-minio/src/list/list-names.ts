import type { S3Client } from '@aws-sdk/client-s3'
import { compareUtf8, nameProblem, type ListOptions, type Usage } from '@holdfast/core'
import { listObjects, type ListedPage } from './list-objects.ts'
import { mergeSorted } from './merge-sorted.ts'
import { isPlain, nameEncodings, type NameEncoding } from '../keys/name-encodings.ts'
import type { ObjectKeys } from '../keys/object-keys.ts'

/** Where blobs are listed. */
export interface Listing {
  readonly s3: S3Client
  readonly bucket: string
  readonly keys: ObjectKeys
}

/** The names of a customer's blobs. Whatever else lies in the bucket is passed over. */
export async function* listNames(
  listing: Listing,
  customer: string,
  { prefix = '', after = '', limit = Infinity }: ListOptions,
): AsyncGenerator<string> {
  // Half of a surrogate pair, at its end, is a beginning of names and nothing that can be sent.
  const sound = prefix.slice(0, prefix.isWellFormed() ? prefix.length : -1)
  if (!canBegin(sound)) return
  const cut = { prefix: sound, after, pageSize: Math.min(1000, limit) }
  const base = listing.keys.customerPrefix(customer)
  let left = limit
  for await (const { name } of entriesBelow(listing, base, blobsOf, cut)) {
    if (!name.startsWith(prefix) || compareUtf8(name, after) <= 0) continue
    yield name
    if (--left === 0) return
  }
}

/** How much a customer keeps. */
export async function measure(listing: Listing, customer: string): Promise<Usage> {
  const usage = { blobs: 0, bytes: 0 }
  const base = listing.keys.customerPrefix(customer)
  for await (const { size } of entriesBelow(listing, base, blobsOf)) {
    usage.blobs++
    usage.bytes += size
  }
  return usage
}

/** The names of the customers who keep a blob, all of which it holds in memory. */
export async function* listCustomers(listing: Listing): AsyncGenerator<string> {
  const names: string[] = []
  for await (const { name } of entriesBelow(listing, listing.keys.prefix, foldersOf)) {
    names.push(name)
  }
  // S3 orders folders by their names with a slash appended: "a b/" comes before "a/".
  yield* names.sort(compareUtf8)
}

interface Cut {
  readonly prefix: string
  readonly after: string
  readonly pageSize: number
}

interface Entry {
  readonly name: string
  readonly size: number
}

/** Takes from a page what is wanted of it, by whole keys. */
type Pick = (page: ListedPage) => readonly { readonly key: string; readonly size: number }[]

const blobsOf: Pick = ({ objects }) => objects

const foldersOf: Pick = ({ folders }) =>
  folders.map((folder) => ({ key: folder.slice(0, -1), size: 0 }))

const everything: Cut = { prefix: '', after: '', pageSize: 1000 }

/** What is directly below `base`, in order; with a cut, all that is in it, and maybe more. */
function entriesBelow(
  listing: Listing,
  base: string,
  pick: Pick,
  cut: Cut = everything,
): AsyncIterable<Entry> {
  const ways = nameEncodings.map((encoding) => entriesIn(encoding, listing, base, pick, cut))
  return mergeSorted(ways, (a, b) => compareUtf8(a.name, b.name))
}

async function* entriesIn(
  { folder, encode, decode }: NameEncoding,
  { s3, bucket }: Listing,
  base: string,
  pick: Pick,
  cut: Cut,
): AsyncGenerator<Entry> {
  const [prefix, after] = [safeStart(encode(cut.prefix)), safeStart(encode(cut.after))]
  // S3 servers differ in what they make of a start outside the prefix.
  if (!after.startsWith(prefix) && compareUtf8(after, prefix) > 0) return
  const isWithin = after !== '' && after.startsWith(prefix)
  const start = base + folder
  const pages = listObjects({
    s3,
    bucket,
    prefix: start + prefix,
    pageSize: cut.pageSize,
    ...(isWithin && { after: start + after }),
  })
  for await (const page of pages) {
    for (const { key, size } of pick(page)) {
      const name = decode(key.slice(start.length))
      if (name === undefined) continue
      if (!name.startsWith(cut.prefix) && compareUtf8(name, cut.prefix) > 0) return
      yield { name, size }
    }
  }
}

/**
 * The longest beginning of `text` that a key may have: servers that keep objects as files refuse a list from or below a
 * path that cannot be. What comes of it too early is passed over.
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
