import { nameProblem, type BlobKey, type BlobInfo } from '@holdfast/core'
import type { S3Client } from '@aws-sdk/client-s3'

/** Bytes; leaves room for two names of 255 bytes in the 1024 bytes of an S3 key. */
const maxPrefixBytes = 500

/**
 * Maps blobs to objects: `<prefix><customer>/<file name>`, with the names unchanged wherever servers accept them, so that an administrator
 * finds them.
 */
export interface ObjectKeys {
  /** The beginning of all keys. */
  readonly prefix: string
  /** @throws TypeError for an invalid name. */
  keyOf(key: BlobKey): string
  /** The beginning of the keys of a customer's objects. @throws TypeError for an invalid name. */
  customerPrefix(customer: string): string
  /** Whether `key` could be that of a blob. */
  isKey(key: string): boolean
}

/** @throws RangeError that ends a sentence about the prefix, for an invalid prefix */
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

/** The texts that may follow a name and a slash at the beginning of `path`. */
function restsOf(path: string): string[] {
  return nameEncodings.flatMap(({ folder, decode }) => {
    const end = path.indexOf('/', folder.length)
    const isName =
      path.startsWith(folder) && end > 0 && decode(path.slice(folder.length, end)) !== undefined
    return isName ? [path.slice(end + 1)] : []
  })
}

/** What is wrong with `prefix`, as the end of a sentence. Servers that store objects as files refuse such keys. */
function prefixProblem(prefix: string): string | undefined {
  if (prefix === '') return undefined
  if (!prefix.endsWith('/')) return 'does not end with a slash'
  if (Buffer.byteLength(prefix) > maxPrefixBytes) return `is longer than ${maxPrefixBytes} bytes`
  const problems = prefix.slice(0, -1).split('/').map(nameProblem)
  const problem = problems.find((each) => each !== undefined)
  return problem === undefined ? undefined : `has a part that cannot be used: ${problem}`
}

/**
 * Makes the decoder for the keys of a list: it changes nothing unless the list's `EncodingType` is `url`, since a server may ignore the
 * request for it. A key that is not URL-encoded stays as it is, so that it hides no other key.
 */
export function keyDecoder(encodingType: string | undefined): (key: string) => string {
  return encodingType === 'url' ? decodeUrl : (key) => key
}

function decodeUrl(encoded: string): string {
  try {
    // A plus means a space.
    return decodeURIComponent(encoded.replaceAll('+', ' '))
  } catch {
    return encoded
  }
}

/** The description of the blob `name`, from that of its object; `etag` is in quotes. */
export function blobInfo(
  name: string,
  { size, modifiedAt, etag }: Pick<BlobInfo, 'size' | 'modifiedAt' | 'etag'>,
): BlobInfo {
  return { name, size, modifiedAt, etag: etag.replaceAll('"', '') }
}

/** The address of an object, which need not exist. */
export interface ObjectRef {
  readonly s3: S3Client
  readonly bucket: string
  readonly key: string
}

/** One way to encode a name as a part of a key. */
export interface NameEncoding {
  /** The folder of names in this encoding; ends with a slash unless it is empty. */
  readonly folder: string
  /** Keeps the order of UTF-8 bytes, and the length. Also for beginnings of names. */
  readonly encode: (name: string) => string
  /** The name that is encoded as `text`; `undefined` if there is none. */
  readonly decode: (text: string) => string | undefined
}

/**
 * What servers that store objects as files refuse (MinIO does): a name with one or two dots, with or without spaces around them, between
 * backslashes or the ends of the name. It could lead out of the folder.
 */
const dotSegment = /(?:^|\\) *\.{1,2} *(?:\\|$)/

/** Whether the name `text`, or a beginning of one, can be a part of a key unchanged. */
export function isPlain(text: string): boolean {
  return !dotSegment.test(text)
}

const plain: NameEncoding = {
  folder: '',
  encode: (name) => name,
  decode: (text) => (nameProblem(text) === undefined && isPlain(text) ? text : undefined),
}

/**
 * Moves each character from the space to the dot down by one, so that no dot is left. This is reversible and keeps the order: names have
 * no slash, which follows the dot, and no control character, which the space becomes. The folder is named by a control character, so no
 * file can have its name.
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

/** Every name has one of these encodings: `plain`, unless servers would refuse that. */
export const nameEncodings: readonly NameEncoding[] = [plain, shifted]

/** `name` as a part of a key. @throws TypeError for an invalid name */
export function encodeName(name: string): string {
  // The core has checked every name already. This check keeps callers without the core below the prefix.
  const problem = nameProblem(name)
  if (problem !== undefined) throw new TypeError(`Not a name: ${problem}`)
  const encoding = isPlain(name) ? plain : shifted
  return encoding.folder + encoding.encode(name)
}
