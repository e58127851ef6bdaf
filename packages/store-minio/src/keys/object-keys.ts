import { nameProblem, type BlobKey, type BlobInfo } from '@holdfast/core'
import type { S3Client } from '@aws-sdk/client-s3'

/** Bytes; leaves room for two names of 255 bytes in S3's 1024 for a key. */
const maxPrefixBytes = 500

/**
 * Which object keeps which blob: `<prefix><customer>/<file name>`, with the names as they are wherever servers take
 * them, so that an administrator finds them.
 */
export interface ObjectKeys {
  /** What all keys begin with. */
  readonly prefix: string
  /** @throws TypeError for what cannot be a name. */
  keyOf(key: BlobKey): string
  /** What the keys of a customer's objects begin with. @throws TypeError for what cannot be a name. */
  customerPrefix(customer: string): string
  /** Whether `key` could be that of a blob. */
  isKey(key: string): boolean
}

/** @throws RangeError that ends a sentence about the prefix, for a prefix that keys cannot begin with */
export function createObjectKeys(prefix: string): ObjectKeys {
  const problem = prefixProblem(prefix)
  if (problem !== undefined) throw new RangeError(problem)
  const customerPrefix = (customer: string) => `${prefix}${encodeName(customer)}/`
  return {
    prefix,
    customerPrefix,
    keyOf: ({ customer, name }) => customerPrefix(customer) + encodeName(name),
    isKey: (key) =>
      key.startsWith(prefix) &&
      restsOf(`${key.slice(prefix.length)}/`)
        .flatMap(restsOf)
        .includes(''),
  }
}

/** What may follow a name and a slash at the beginning of `path`. */
function restsOf(path: string): string[] {
  return nameEncodings.flatMap(({ folder, decode }) => {
    const end = path.indexOf('/', folder.length)
    const isName =
      path.startsWith(folder) && end > 0 && decode(path.slice(folder.length, end)) !== undefined
    return isName ? [path.slice(end + 1)] : []
  })
}

/** What is wrong with `prefix`, as the end of a sentence. Servers that keep objects as files refuse such keys. */
function prefixProblem(prefix: string): string | undefined {
  if (prefix === '') return undefined
  if (!prefix.endsWith('/')) return 'does not end with a slash'
  if (Buffer.byteLength(prefix) > maxPrefixBytes) return `is longer than ${maxPrefixBytes} bytes`
  const problems = prefix.slice(0, -1).split('/').map(nameProblem)
  const problem = problems.find((each) => each !== undefined)
  return problem === undefined ? undefined : `has a part that cannot be used: ${problem}`
}

/**
 * Undoes what a list did to its keys: nothing, unless its `EncodingType` says `url`. A server may ignore the question for
 * it. A key that is no such encoding is taken as it is, so that it hides no other.
 */
export function keyDecoder(encodingType: string | undefined): (key: string) => string {
  return encodingType === 'url' ? decodeUrl : (key) => key
}

function decodeUrl(encoded: string): string {
  try {
    // A plus stands for a space.
    return decodeURIComponent(encoded.replaceAll('+', ' '))
  } catch {
    return encoded
  }
}

/** The description of the blob `name`, from its object's; `etag` is in quotes. */
export function blobInfo(
  name: string,
  { size, modifiedAt, etag }: Pick<BlobInfo, 'size' | 'modifiedAt' | 'etag'>,
): BlobInfo {
  return { name, size, modifiedAt, etag: etag.replaceAll('"', '') }
}

/** Where an object is, or is to be. */
export interface ObjectPlace {
  readonly s3: S3Client
  readonly bucket: string
  readonly key: string
}

/** One of the ways in which a name becomes a part of a key. */
export interface NameEncoding {
  /** The folder for names in this encoding, beside or instead of others; ends with a slash unless it is empty. */
  readonly folder: string
  /** Keeps the order of UTF-8 bytes, and the length. For beginnings of names, too. */
  readonly encode: (name: string) => string
  /** The name that is encoded as `text`; `undefined` if no name is. */
  readonly decode: (text: string) => string | undefined
}

/**
 * What servers refuse that keep objects as files (MinIO does): a name with a dot or two between backslashes or its ends,
 * spaces aside. It might be taken for a way out of the folder.
 */
const dotSegment = /(?:^|\\) *\.{1,2} *(?:\\|$)/

/** Whether the name `text`, or a beginning of one, can be a part of a key as it is. */
export function isPlain(text: string): boolean {
  return !dotSegment.test(text)
}

const plain: NameEncoding = {
  folder: '',
  encode: (name) => name,
  decode: (text) => (nameProblem(text) === undefined && isPlain(text) ? text : undefined),
}

/**
 * Moves each character from the space to the dot down by one, which leaves no dot. That is reversible and keeps the
 * order since names have no slash, which follows the dot, and no control character, where the space goes. The folder
 * has a control character for a name, so that no file can have the same.
 */
const shifted: NameEncoding = {
  folder: '\u0001/',
  encode: (name) => name.replace(/[\u0020-\u002e]/g, (character) => move(character, -1)),
  decode: (text) => {
    const name = text.replace(/[\u001f-\u002d]/g, (character) => move(character, 1))
    return nameProblem(name) === undefined && !isPlain(name) ? name : undefined
  },
}

function move(character: string, by: number): string {
  return String.fromCharCode(character.charCodeAt(0) + by)
}

/** Every name is in one of them: as it is, unless servers would refuse that. */
export const nameEncodings: readonly NameEncoding[] = [plain, shifted]

/** `name` as a part of a key. @throws TypeError for what cannot be a name */
export function encodeName(name: string): string {
  // The core has judged every name already; a caller without it must still not reach outside the prefix.
  const problem = nameProblem(name)
  if (problem !== undefined) throw new TypeError(`Not a name: ${problem}`)
  const encoding = isPlain(name) ? plain : shifted
  return encoding.folder + encoding.encode(name)
}
