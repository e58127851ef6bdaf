import { nameProblem, type BlobKey, type BlobInfo } from '@holdfast/core'
import { encodeName, nameEncodings } from './name-encodings.ts'
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
