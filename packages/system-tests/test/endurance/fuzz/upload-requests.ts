import type { Beginning } from './upload-model.ts'
import type { DraftAppend, DraftBeginning } from './draft-model.ts'
import { sha256Of } from './upload-model.ts'
import type { TusAppend } from './tus-model.ts'
import type { HeaderLine } from './requests.ts'

/** A request of one of the protocols, without the lines that every one has. */
export interface UploadRequest {
  readonly method: string
  readonly target: string
  readonly lines: readonly HeaderLine[]
  readonly body: Buffer
}

const tus: HeaderLine = ['Tus-Resumable', '1.0.0']
const version: HeaderLine = ['Upload-Draft-Interop-Version', '8']
const base64 = (text: string) => Buffer.from(text).toString('base64')
const lineIf = (name: string, value: string | number | undefined): readonly HeaderLine[] =>
  value === undefined ? [] : [[name, String(value)]]
const createOnly = (isCreateOnly: boolean) =>
  lineIf('If-None-Match', isCreateOnly ? '*' : undefined)

/** The digest of `bytes`, or of others, as bytes in Base64. */
function digestIn(bytes: Buffer, digest: 'right' | 'wrong' | undefined): string | undefined {
  if (digest === undefined) return undefined
  const hex = sha256Of(digest === 'right' ? bytes : Buffer.concat([bytes, Buffer.from('x')]))
  return Buffer.from(hex, 'hex').toString('base64')
}

function checksum(bytes: Buffer, digest: 'right' | 'wrong' | undefined): readonly HeaderLine[] {
  const value = digestIn(bytes, digest)
  return lineIf('Upload-Checksum', value === undefined ? undefined : `sha256 ${value}`)
}

function contentDigest(bytes: Buffer, digest: 'right' | 'wrong' | undefined) {
  const value = digestIn(bytes, digest)
  return lineIf('Content-Digest', value === undefined ? undefined : `sha-256=:${value}:`)
}

const piece: HeaderLine = ['Content-Type', 'application/offset+octet-stream']
const part: HeaderLine = ['Content-Type', 'application/partial-upload']

export const tusRequests = {
  begin({ name, isCreateOnly, length, bytes, digest, sha256 }: Beginning): UploadRequest {
    const digests = sha256 === undefined ? '' : `,sha256 ${base64(sha256)}`
    const lines: readonly HeaderLine[] = [
      tus,
      length === undefined ? ['Upload-Defer-Length', '1'] : ['Upload-Length', String(length)],
      ['Upload-Metadata', `filename ${base64(name)}${digests}`],
      ...createOnly(isCreateOnly),
      ...(bytes.length > 0 ? [piece, ...checksum(bytes, digest)] : []),
    ]
    return { method: 'POST', target: '/resumable', lines, body: bytes }
  },
  append(target: string, { offset, bytes, length, digest }: TusAppend): UploadRequest {
    const lines = [
      tus,
      piece,
      ...lineIf('Upload-Offset', offset),
      ...lineIf('Upload-Length', length),
      ...checksum(bytes, digest),
    ]
    return { method: 'PATCH', target, lines, body: bytes }
  },
  of: (method: string, target: string): UploadRequest => {
    return { method, target, lines: [tus], body: Buffer.alloc(0) }
  },
} as const

const complete = (isLast: boolean): HeaderLine => ['Upload-Complete', isLast ? '?1' : '?0']

export const draftRequests = {
  begin(beginning: DraftBeginning): UploadRequest {
    const { name, isCreateOnly, length, bytes, digest, sha256, isLast } = beginning
    const whole = sha256 && Buffer.from(sha256, 'hex').toString('base64')
    const lines = [
      ...[version, complete(isLast)],
      ...lineIf('Upload-Length', length),
      ...createOnly(isCreateOnly),
      ...contentDigest(bytes, digest),
      ...lineIf('Repr-Digest', whole && `sha-256=:${whole}:`),
    ]
    return { method: 'PUT', target: `/upload/${encodeURIComponent(name)}`, lines, body: bytes }
  },
  append(target: string, { offset, bytes, length, digest, isLast }: DraftAppend): UploadRequest {
    const lines = [
      ...[version, part, complete(isLast)],
      ...lineIf('Upload-Offset', offset),
      ...lineIf('Upload-Length', length),
      ...contentDigest(bytes, digest),
    ]
    return { method: 'PATCH', target, lines, body: bytes }
  },
  of: (method: string, target: string): UploadRequest => {
    return { method, target, lines: [version], body: Buffer.alloc(0) }
  },
} as const
