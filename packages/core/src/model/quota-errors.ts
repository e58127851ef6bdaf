import { FileServiceError, isFileServiceError } from './errors.ts'

/** What of a quota of bytes is left for one file. */
export interface ByteShortage {
  /** Bytes of the customer's other files and uploads under way. */
  readonly others: number
  readonly quota: number
  /** Bytes of the whole file; left out where they are not known. */
  readonly needed: number | undefined
}

/** The customer would keep more bytes than the quota. */
export function bytesExceeded({ others, quota, needed }: ByteShortage): FileServiceError {
  const need = needed === undefined ? 'more than the rest' : `${needed}`
  return exceeded(
    `other files and uploads use ${others} of ${quota} bytes, and this file needs ${need}`,
  )
}

/** The customer would keep more files than `most`. */
export function filesExceeded(count: number, most: number): FileServiceError {
  return exceeded(`${count} of ${most} files are stored or being stored`)
}

/** The customer has as many unfinished uploads as may be. */
export function uploadsExceeded(count: number, most: number): FileServiceError {
  return exceeded(`there are ${count} of ${most} unfinished uploads`)
}

/** There are as many files as a link may store. Whoever has the link may know that number. */
export function linkExceeded(maxFiles: number): FileServiceError {
  const message = `Quota exceeded: the link's limit is ${maxFiles} file(s)`
  return new LinkExceeded('quota-exceeded', message)
}

/** What a stranger may know of `error`: no number of the customer's. */
export function withoutNumbers(error: unknown): unknown {
  if (!isFileServiceError(error, 'quota-exceeded') || error instanceof LinkExceeded) return error
  return new FileServiceError('quota-exceeded', 'Quota exceeded')
}

class LinkExceeded extends FileServiceError {}

function exceeded(reason: string): FileServiceError {
  return new FileServiceError('quota-exceeded', `Quota exceeded: ${reason}`)
}
