import { HoldfastError } from '../errors/holdfast-error.ts'
import { contentOf, isObject } from '../upload/content-of.ts'
import type { RereadableBody } from '../upload/upload-options.ts'
import { isNameForForms, type SmallFile } from './form-of.ts'
import type { FileToUpload } from './upload-many-options.ts'

/** A file whose content cannot be read. */
export interface UnreadFile {
  readonly name: string
  readonly error: Error
}

/** A larger file gains nothing from a request that it shares. */
const smallSize = 256 * 1024

/** The file, read as a whole; `undefined` for one that does not go into a form. */
export async function readSmallFile({
  name,
  body,
  sha256,
}: FileToUpload): Promise<SmallFile | UnreadFile | undefined> {
  const isUsual = isNameForForms(name) && (sha256 === undefined || /^[0-9a-f]{64}$/i.test(sha256))
  if (!isUsual || isStream(body)) return undefined
  const content = contentOf(body, AbortSignal.abort())
  if (!('size' in content) || content.size > smallSize) return undefined
  try {
    return { name, bytes: await bytesOf(content), sha256 }
  } catch (error) {
    return { name, error: error instanceof Error ? error : new Error(String(error)) }
  }
}

const isStream = (body: FileToUpload['body']) => isObject(body) && 'getReader' in body

async function bytesOf(content: RereadableBody): Promise<Uint8Array> {
  const { size } = content
  const slice = content.slice(0, size)
  if (slice instanceof Uint8Array) return slice
  if (slice instanceof Blob) return bytesOfBlob(slice)
  const bytes = new Uint8Array(size)
  let at = 0
  for await (const chunk of slice) {
    if (at + chunk.length > size) throw anotherLength()
    bytes.set(chunk, at)
    at += chunk.length
  }
  if (at < size) throw anotherLength()
  return bytes
}

async function bytesOfBlob(blob: Blob): Promise<Uint8Array> {
  try {
    return new Uint8Array(await blob.arrayBuffer())
  } catch (error) {
    throw new HoldfastError('changed-meanwhile', 'The Blob cannot be read', { cause: error })
  }
}

const anotherLength = () =>
  new HoldfastError('changed-meanwhile', 'The content is not as long as its size')
