import { filePart, form, formType, part, textPart } from '../../black-box/support/form.ts'
import type { Question } from './ask.ts'
import type { Version } from './content.ts'

/** How a file is sent. */
export interface Sending {
  readonly createOnly: boolean
  readonly digest: 'none' | 'right' | 'wrong'
}

/** A form with one file. */
export function formQuestion(sending: Sending, version: Version, content: Buffer): Question {
  return {
    method: 'POST',
    path: '/upload',
    headers: { 'content-type': formType, ...conditionOf(sending) },
    body: form(...partsOf(sending, version, content)),
  }
}

/** The parts that a form has for one file. */
export function partsOf({ digest }: Sending, version: Version, content: Buffer): Buffer[] {
  const filePartOfIt = namedPart(version.name, content)
  if (digest === 'none') return [filePartOfIt]
  return [textPart('sha256', digestFor(digest, version)), filePartOfIt]
}

/** A body that is the file. */
export function rawQuestion(sending: Sending, version: Version, content: Buffer): Question {
  const { digest } = sending
  const base64 = Buffer.from(digestFor(digest, version), 'hex').toString('base64')
  return {
    method: 'PUT',
    path: `/upload/${encodeURIComponent(version.name)}`,
    headers: {
      'content-length': content.length,
      ...conditionOf(sending),
      ...(digest !== 'none' && { 'content-digest': `sha-256=:${base64}:` }),
    },
    body: content,
  }
}

export function conditionOf({ createOnly }: Pick<Sending, 'createOnly'>): Record<string, string> {
  return createOnly ? { 'if-none-match': '*' } : {}
}

function digestFor(digest: Sending['digest'], { sha256 }: Version): string {
  return digest === 'wrong' ? sha256.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) : sha256
}

/** Names that would need escapes between quotes have a form of their own (RFC 8187). */
function namedPart(name: string, content: Buffer): Buffer {
  if (!/["\\%]/.test(name)) return filePart(name, content)
  const encoded = encodeURIComponent(name).replace(/['()*]/g, percentEncode)
  return part(`form-data; name="file"; filename*=UTF-8''${encoded}`, content)
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
