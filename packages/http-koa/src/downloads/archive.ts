import type { RouterMiddleware } from '@koa/router'
import {
  checkFileName,
  isFileServiceError,
  type BlobInfo,
  type CustomerFiles,
  type OpenBlob,
} from '@holdfast/core'
import { filesOf } from '../guards/enter.ts'
import { etagOf, refuseConditions } from '../http/conditional.ts'
import { problems } from '../http/problems.ts'
import { type HoldfastState, soleParameter } from '../server/exchange.ts'
import { readNames } from '../server/request-body.ts'
import { contentPolicy, lastModifiedOf, mediaTypeOf, setHeaders } from './serve.ts'
import { createPumpedBody, streamBody } from './stream-body.ts'

/**
 * POST /serve/batch: sends the files that a JSON array names as an archive of tar, in the order of the names. Names without a file are
 * left out; with `largest`, so are larger files.
 */
export const serveBatch: RouterMiddleware<HoldfastState> = async (ctx) => {
  refuseConditions(ctx.req.headers, 'archives')
  const largest = parseLargest(new URLSearchParams(ctx.querystring))
  const names = await readNames(ctx.req)
  for (const name of names) checkFileName(name)
  const leaving = new AbortController()
  const opened = openInOrder(filesOf(ctx.state), { names, largest, signal: leaving.signal })
  const archive = gathered(contentOf(opened))
  const release = () => {
    // A generator that waits for a file is closed only after that.
    leaving.abort()
    return archive.return()
  }
  await streamBody(ctx, archive, release, createPumpedBody)
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

interface Wanted {
  readonly names: readonly string[]
  /** In bytes. */
  readonly largest: number
  /** Aborts when no further file is wanted. */
  readonly signal: AbortSignal
}

/** An open file, or the error of opening it; neither if the archive leaves the file out. */
interface Opened {
  readonly file?: OpenBlob
  readonly failure?: { readonly error: unknown }
}

/** How many files are opened ahead at most. A bucket answers late, but many requests at a time. */
const mostAhead = 7

/**
 * Opens the files, and yields them in the order of the names; closes each when the next one is asked for. After each file that is in memory,
 * one more file is opened ahead. After one that is not, none is: it takes a descriptor, or a connection and its buffers.
 */
async function* openInOrder(
  files: CustomerFiles,
  { names, largest, signal }: Wanted,
): AsyncGenerator<Opened, void, undefined> {
  const open = async (name: string): Promise<Opened> => {
    const file = await openIfThere(files, name)
    if (file === undefined || file.info.size <= largest) return file ? { file } : {}
    await file.close()
    return {}
  }
  const ahead: Promise<Opened>[] = []
  let next = 0
  let width = 1
  try {
    for (let taken = 0; !signal.aborted; taken++) {
      if (taken % (mostAhead + 1) === 0) await yieldToEventLoop()
      while (ahead.length < width && next < names.length) {
        // A failure must not count as unhandled while an earlier file is sent.
        ahead.push(open(names[next++] ?? '').catch((error: unknown) => ({ failure: { error } })))
      }
      const opening = ahead.shift()
      if (opening === undefined) return
      const opened = await opening
      const { file } = opened
      width = file && file.bytes === undefined ? 1 : Math.min(width + 1, mostAhead + 1)
      try {
        yield opened
      } finally {
        await file?.close()
      }
    }
  } finally {
    for (const { file } of await Promise.all(ahead)) await file?.close()
  }
}

/** Names without a file may need no I/O: other requests come first, and the end of the connection. */
function yieldToEventLoop(): Promise<unknown> {
  return new Promise((resolve) => setImmediate(resolve))
}

async function openIfThere(files: CustomerFiles, name: string): Promise<OpenBlob | undefined> {
  try {
    return await files.serve(name, { reuseChunks: true })
  } catch (error) {
    if (isFileServiceError(error) && error.code === 'not-found') return undefined
    throw error
  }
}

/**
 * The parts of the archive: of each file its headers, its content, and zeros up to a whole block. If a file cannot be opened, a header
 * without its content follows the ones before: programs that unpack the archive then report that it is not complete.
 */
async function* contentOf(files: AsyncIterable<Opened>): AsyncGenerator<Uint8Array, void> {
  let isBegun = false
  for await (const { file, failure } of files) {
    if (failure) {
      if (isBegun)
        yield headerBlock({ type: 'x', name: 'not-complete', size: blockSize, seconds: 0 })
      throw failure.error
    }
    if (file === undefined) continue
    isBegun = true
    yield entryHeaders(file.info)
    if (file.bytes) yield file.bytes
    else yield* file.content
    yield zeros.subarray(0, paddingOf(file.info.size))
  }
  yield zeros
}

/** Bytes that are sent together; a larger part is not copied. */
const chunkSize = 64 * 1024

/** The parts, small ones together, in memory that is used again for each chunk. An error comes after all parts before it. */
async function* gathered(
  parts: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const chunk = Buffer.allocUnsafe(chunkSize)
  let used = 0
  try {
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
  } catch (error) {
    if (used > 0) yield chunk.subarray(0, used)
    throw error
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
const headerLimits = { name: 100, size: 8 ** 11 - 1 }

/**
 * The headers of a file, in the pax interchange format (POSIX.1-2024, pax). Its `comment`, which programs that unpack it ignore, has the
 * headers that `GET /serve/:filename` would send about the content, as a JSON object.
 */
function entryHeaders(info: BlobInfo): Uint8Array {
  const { name, size } = info
  const records = [
    ...(isPlain(name) ? [] : [record('path', name)]),
    ...(size > headerLimits.size ? [record('size', String(size))] : []),
    record('comment', JSON.stringify(contentHeadersOf(info))),
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

function contentHeadersOf(info: BlobInfo): Readonly<Record<string, string>> {
  return {
    ETag: etagOf(info),
    'Last-Modified': lastModifiedOf(info),
    'Content-Type': mediaTypeOf(info.name),
  }
}

const plain = /^[\x20-\x7e]*$/u

function isPlain(name: string): boolean {
  return name.length <= headerLimits.name && plain.test(name)
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

/** Mode 0644; owner and group 0; spaces in place of the checksum; `ustar`, version 00. */
const template = Buffer.alloc(blockSize)
template.write('0000644\0' + '0000000\0'.repeat(2), 100, 'latin1')
template.write(' '.repeat(8), 148, 'latin1')
template.write('ustar\x0000', 257, 'latin1')

/** A header of the format ustar (POSIX.1-2024, pax). */
function headerBlock({ type, name, size, seconds }: HeaderFields): Buffer {
  const block = Buffer.from(template)
  block.write(name, 0, 'latin1')
  block.write(octal(Math.min(size, headerLimits.size)), 124, 'latin1')
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
