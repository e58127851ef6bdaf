import { createHash } from 'node:crypto'
import { isName } from './name-model.ts'

/** A part of a form, of which nothing is in doubt. */
export interface ModelPart {
  readonly name: string
  /** Left out for a text field. */
  readonly filename?: string
  readonly content: Buffer
}

/**
 * What a form is by RFC 2046 §5.1 and RFC 7578, read as narrowly as can be: `clear` where every reader must find these
 * parts, `unclosed` where there is no closing delimiter anywhere, `unclear` where readers may differ.
 */
export type ModelForm =
  | { readonly kind: 'clear'; readonly parts: readonly ModelPart[] }
  | { readonly kind: 'unclosed' }
  | { readonly kind: 'unclear' }

const unclear: ModelForm = { kind: 'unclear' }
const lineEnd = '\r\n'

/** Reads a form without looking at how the service does. */
export function readForm(body: Buffer, boundary: string): ModelForm {
  // In Latin-1 an index is that of a byte.
  const text = lineEnd + body.toString('latin1')
  const delimiter = `${lineEnd}--${boundary}`
  if (!text.includes(`${delimiter}--`)) return { kind: 'unclosed' }
  if (!text.startsWith(delimiter)) return unclear
  const parts: ModelPart[] = []
  let at = delimiter.length
  while (!text.startsWith('--', at)) {
    // RFC 2046 §5.1.1 has spaces and tabs there as "transport padding".
    while (text[at] === ' ' || text[at] === '\t') at++
    if (!text.startsWith(lineEnd, at)) return unclear
    const next = text.indexOf(delimiter, at + 2)
    const part = next < 0 ? undefined : readPart(text.slice(at + 2, next))
    if (part === undefined) return unclear
    parts.push(part)
    at = next + delimiter.length
  }
  const epilogue = text.slice(at + 2)
  return /^[ \t]*(?:\r\n)?$/.test(epilogue) ? { kind: 'clear', parts } : unclear
}

const disposition =
  /^Content-Disposition: form-data; name="([a-z_0-9]{1,20})"(?:; filename="([^"\\%/\0-\x1f\x7f]+)")?$/
const harmlessLine =
  /^(?:Content-Type: (?:text\/plain|image\/png)|Content-Transfer-Encoding: binary|X-[A-Z][a-z]{1,10}: [!-~]{1,20})$/

function readPart(text: string): ModelPart | undefined {
  const end = text.indexOf(lineEnd + lineEnd)
  if (end < 0) return undefined
  const lines = text.slice(0, end).split(lineEnd)
  const found = lines.flatMap((line) => disposition.exec(line) ?? [])
  const others = lines.filter((line) => !disposition.test(line))
  const isClear = found.length === 3 && others.every((line) => harmlessLine.test(line))
  const name = found[1]
  if (!isClear || name === undefined) return undefined
  const content = Buffer.from(text.slice(end + 4), 'latin1')
  if (found[2] === undefined) return { name, content }
  const filename = Buffer.from(found[2], 'latin1').toString()
  // The service refuses U+FFFD here, whether it was sent or stands for bytes that are no UTF-8.
  return filename.includes('\ufffd') ? undefined : { name, filename, content }
}

/** What `POST /upload` does with a clear form: the file to be stored, or a refusal. */
export function fileOfUpload(parts: readonly ModelPart[]): ModelPart | undefined {
  const [file, ...more] = parts.filter(isFile)
  if (file === undefined || more.length > 0) return undefined
  const digests = parts.filter(isDigest)
  return isName(file.filename) && isRight(digests, file) ? file : undefined
}

/** What `POST /upload/batch` does with a clear form: for each file whether it is stored, in order. */
export function filesOfBatch(parts: readonly ModelPart[]) {
  let digests: ModelPart[] = []
  const files: { readonly file: ModelPart; readonly isStored: boolean }[] = []
  for (const part of parts) {
    if (isDigest(part)) digests.push(part)
    if (!isFile(part)) continue
    files.push({ file: part, isStored: isName(part.filename) && isRight(digests, part) })
    digests = []
  }
  return { files, isWhole: files.length > 0 && digests.length === 0 }
}

function isFile(part: ModelPart): part is ModelPart & { readonly filename: string } {
  return part.name === 'file' && part.filename !== undefined
}

function isDigest({ name, filename }: ModelPart): boolean {
  return name === 'sha256' && filename === undefined
}

function isRight(digests: readonly ModelPart[], { content }: ModelPart): boolean {
  if (digests.length === 0) return true
  const hash = createHash('sha256').update(content).digest('hex')
  return digests.length === 1 && digests[0]?.content.toString().toLowerCase() === hash
}

/** Whether `content` stands in the form as the whole of a part: behind a blank line, and before a delimiter. */
export function isPartContent(content: Buffer, body: Buffer, boundary: string): boolean {
  const delimiter = Buffer.from(`${lineEnd}--${boundary}`, 'latin1')
  const framed = Buffer.concat([Buffer.from(lineEnd + lineEnd), content, delimiter])
  return body.includes(framed) && !content.includes(delimiter)
}
