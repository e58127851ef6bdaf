import type { FileDetails, LinkRequest } from '@holdfast/client/browser'
import { ExplainedError } from '../parts/explain-error.ts'

/** The terms of a link to upload, which the server has written into the page. */
export interface LinkTerms {
  /** The customer who made the link. */
  readonly customer: string
  /** The name of the one file, or the beginning of all names. */
  readonly name: string
  readonly isPrefix: boolean
  readonly maxFiles: number
  /** Bytes; `undefined` for no limit. */
  readonly maxSize?: number
  readonly replace: boolean
  /** Whether the link can store no more new files. */
  readonly isUsedUp: boolean
  readonly expires: Date
}

/** Why a link does not work: it is wrong or has expired, there were too many wrong links, the server is busy, or its file is gone. */
export type LinkRefusal = 'refused' | 'tooMany' | 'busy' | 'missing'

/** The file of a link to download, which the server has written into the page. */
export interface LinkedFile {
  /** The customer who made the link. */
  readonly customer: string
  readonly file: FileDetails
}

export type LinkState = LinkTerms | LinkedFile | LinkRefusal

const refusals: Readonly<Record<string, LinkRefusal>> = {
  'too-many-attempts': 'tooMany',
  overloaded: 'busy',
  'not-found': 'missing',
}

/** Reads the terms that the server has written into the page. */
export function readTerms(text: string | undefined): LinkState {
  const { refused, expires, file, ...terms } = JSON.parse(text ?? '{"refused":""}') as Written
  if (refused !== undefined) return refusals[refused] ?? 'refused'
  if (file !== undefined) return { customer: terms.customer, file }
  return { ...terms, expires: new Date(expires) }
}

interface Written extends Omit<LinkTerms, 'expires'> {
  readonly expires: string
  readonly refused?: string
  readonly file?: FileDetails
}

/** The address of the file itself, in that of the page about it. */
export function fileOfPage(address: string): string {
  const url = new URL(address)
  url.searchParams.delete('page')
  return url.href
}

/** The fields of the form for a link to upload. */
export interface UploadLinkForm {
  readonly isPrefix: boolean
  /** The name, or the beginning of all names. */
  readonly name: string
  readonly maxFiles: string
  /** Bytes; 0 for any size. */
  readonly maxSize: number
  readonly expiresIn: number
}

const mostFiles = 10_000

/**
 * The request for a link with the values of `form`.
 * @throws ExplainedError for an invalid value
 */
export function linkOptionsOf(form: UploadLinkForm): LinkRequest {
  const { isPrefix, name, maxSize, expiresIn } = form
  if (name === '') throw new ExplainedError('askNameMissing')
  return {
    verb: 'upload',
    expiresIn,
    ...(isPrefix && { prefix: true, maxFiles: countOf(form.maxFiles) }),
    ...(maxSize > 0 && { maxSize }),
  }
}

function countOf(text: string): number {
  const count = Number(text)
  if (text.trim() !== '' && Number.isInteger(count) && count >= 1 && count <= mostFiles)
    return count
  throw new ExplainedError('askNumber')
}
