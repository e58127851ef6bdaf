import type { RouterMiddleware } from '@koa/router'
import {
  checkFileName,
  isFileServiceError,
  type BlobInfo,
  type CustomerFiles,
  type OpenBlob,
} from '@holdfast/core'
import { filesOf } from '../guards/enter.ts'
import { refuseConditions } from '../http/conditional.ts'
import { problems } from '../http/problems.ts'
import { orderedConcurrentMap } from '../lists/file-lines.ts'
import { soleParameter, type HoldfastState } from '../server/exchange.ts'
import { readNames } from '../server/json-body.ts'
import { mediaTypeOf, setHeaders, validatorHeaders, contentPolicy } from './serve.ts'
import { createPumpedBody, streamBody } from './stream-body.ts'

/**
 * POST /serve/batch: sends the files that a JSON array names as an archive of tar, in the order of the names. What has no file is
 * left out, and with `largest` also each file of more bytes.
 */
export const serveBatch: RouterMiddleware<HoldfastState> = async (ctx) => {
  refuseConditions(ctx.req.headers, 'archives')
  const largest = parseLargest(new URLSearchParams(ctx.querystring))
  const names = await readNames(ctx.req)
  for (const name of names) checkFileName(name)
  const archive = createArchive(filesOf(ctx.state), names, largest)
  await streamBody(ctx, archive, () => archive.return(), createPumpedBody)
  ctx.status = 200
  ctx.set('Content-Type', 'application/x-tar')
  ctx.set('Content-Disposition', 'attachment; filename="files.tar"')
  ctx.set('Cache-Control', 'private, no-cache')
  setHeaders(ctx.res, contentPolicy)
}

function parseLargest(query: URLSearchParams): number {
  const value = soleParameter(query, 'largest')
  if (value === undefined) return Infinity
  if (/^\d{1,15}$/u.test(value)) return Number(value)
  throw problems.invalidQuery('largest', 'it must be a number of bytes')
}

/** How many files are opened ahead. A bucket answers late, but many at a time. */
const opensAtOnce = 8

/** The archive; each chunk is valid until the next one is asked for. Files that were opened are closed, whatever happens. */
async function* createArchive(
  files: CustomerFiles,
  names: readonly string[],
  largest: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const opened = new Set<OpenBlob>()
  const closing = { isLeft: false }
  const open = async (name: string) => {
    const file = await openIfThere(files, name)
    if (file && file.info.size <= largest && !closing.isLeft) {
      opened.add(file)
      return { file }
    }
    await file?.close()
    return {}
  }
  // A failure must not count as unhandled while an earlier file is sent.
  const begin = (name: string) => {
    const result = open(name).catch((error: unknown): Opened => ({ failure: { error } }))
    return { taken: Promise.resolve(), result }
  }
  try {
    yield* gathered(contentOf(orderedConcurrentMap(givingWay(names), opensAtOnce, begin), opened))
  } finally {
    closing.isLeft = true
    await Promise.all([...opened].map((file) => file.close()))
  }
}

/** A file that was opened, why it could not be, or neither where it is left out. */
interface Opened {
  readonly file?: OpenBlob
  readonly failure?: { readonly error: unknown }
}

async function openIfThere(files: CustomerFiles, name: string): Promise<OpenBlob | undefined> {
  try {
    return await files.serve(name, { reuseChunks: true })
  } catch (error) {
    if (isFileServiceError(error) && error.code === 'not-found') return undefined
    throw error
  }
}

/** Names without a file need no I/O: this gives way to other requests, and to the end of the connection. */
async function* givingWay(names: readonly string[]): AsyncGenerator<string, void> {
  for (const [index, name] of names.entries()) {
    if (index % opensAtOnce === 0) await new Promise((resolve) => setImmediate(resolve))
    yield name
  }
}

/** The parts of the archive: of each file its headers, its content, and zeros up to a whole block. */
async function* contentOf(
  files: AsyncIterable<readonly Opened[]>,
  opened: Set<OpenBlob>,
): AsyncGenerator<Uint8Array, void> {
  for await (const ready of files) {
    for (const { file, failure } of ready) {
      if (failure) throw failure.error
      if (file === undefined) continue
      yield entryHeaders(file.info)
      if (file.bytes) yield file.bytes
      else yield* file.content
      yield zeros.subarray(0, paddingOf(file.info.size))
      await file.close()
      opened.delete(file)
    }
  }
  yield zeros
}

/** Bytes that are sent together; a larger part is not copied. */
const chunkSize = 64 * 1024

/** The parts, small ones together, in memory that is used again for each chunk. */
async function* gathered(
  parts: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const chunk = Buffer.allocUnsafe(chunkSize)
  let used = 0
  for await (const part of parts) {
    if (used > 0 && used + part.length > chunkSize) {
      yield chunk.subarray(0, used)
      used = 0
    }
    if (part.length > chunkSize) yield part
    else {
      chunk.set(part, used)
      used += part.length
    }
  }
  yield chunk.subarray(0, used)
}

/** All of an archive has this unit: headers have one block, contents end with zeros up to a whole one. */
const blockSize = 512

/** Two blocks of zeros end an archive. */
const zeros = new Uint8Array(2 * blockSize)

function paddingOf(size: number): number {
  return (blockSize - (size % blockSize)) % blockSize
}

/** The longest name, in ASCII, and the largest size that the fields of a header hold; others need a record of pax. */
const fields = { name: 100, size: 8 ** 11 - 1 }

/**
 * The headers of a file, in the pax interchange format (POSIX.1-2024, pax). Its `comment`, which programs that unpack it ignore, has the
 * headers that `GET /serve/:filename` would send about the content.
 */
function entryHeaders(info: BlobInfo): Uint8Array {
  const { name, size } = info
  const headers = [...validatorHeaders(info).slice(0, 4), 'Content-Type', mediaTypeOf(name)]
  const records = [
    record('comment', linesOf(headers)),
    ...(isPlain(name) ? [] : [record('path', name)]),
    ...(size > fields.size ? [record('size', String(size))] : []),
  ]
  const about = Buffer.concat(records)
  const seconds = Math.floor(Math.min(info.modifiedAt.getTime(), Date.now()) / 1000)
  return Buffer.concat([
    headerBlock({ type: 'x', name: 'about-next-file', size: about.length, seconds }),
    about,
    zeros.subarray(0, paddingOf(about.length)),
    headerBlock({ type: '0', name: isPlain(name) ? name : 'file', size, seconds }),
  ])
}

const plain = /^[\x20-\x7e]*$/u

function isPlain(name: string): boolean {
  return name.length <= fields.name && plain.test(name)
}

function linesOf(headers: readonly string[]): string {
  let lines = ''
  for (let at = 0; at < headers.length; at += 2) lines += `${headers[at]}: ${headers[at + 1]}\n`
  return lines
}

/** A record of pax: its own length in decimal, a space, the keyword, `=`, the value, and a line feed. */
function record(keyword: string, value: string): Buffer {
  const rest = ` ${keyword}=${value}\n`
  const bytes = Buffer.byteLength(rest)
  let length = bytes + String(bytes).length
  if (String(length).length > String(bytes).length) length++
  return Buffer.from(`${length}${rest}`)
}

interface HeaderFields {
  /** `0` for a file, `x` for what is known of the next one. */
  readonly type: '0' | 'x'
  /** In ASCII. */
  readonly name: string
  readonly size: number
  /** Since 1970. */
  readonly seconds: number
}

/** Mode 0644; owner and group 0, as whoever unpacks it; spaces in place of the checksum; `ustar`, version 00. */
const template = Buffer.alloc(blockSize)
template.write('0000644\0' + '0000000\0'.repeat(2), 100, 'latin1')
template.write(' '.repeat(8), 148, 'latin1')
template.write('ustar\x0000', 257, 'latin1')

/** A header of the format ustar (POSIX.1-2024, pax). */
function headerBlock({ type, name, size, seconds }: HeaderFields): Buffer {
  const block = Buffer.from(template)
  block.write(name, 0, 'latin1')
  block.write(octal(Math.min(size, fields.size)), 124, 'latin1')
  block.write(octal(Math.max(0, seconds)), 136, 'latin1')
  block.write(type, 156, 'latin1')
  let sum = 0
  for (const byte of block) sum += byte
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}

function octal(value: number): string {
  return `${value.toString(8).padStart(11, '0')}\0`
}
