import { createHash } from 'node:crypto'
import { expect } from 'chai'
import type { BlobStore } from '@holdfast/core'

export const MiB = 1024 * 1024

export const key = { customer: 'alice', name: 'report.pdf' }

/** `size` bytes that look random, the same for one `seed`; a chunk in the wrong place shows. */
export function bytesOf(size: number, seed = 1): Buffer {
  const block = createHash('shake256', { outputLength: 65_521 }).update(`${seed}`).digest()
  return Buffer.alloc(size, block)
}

/** Content that tells how it was used. */
export interface WatchedContent extends AsyncIterable<Uint8Array> {
  /** Whether its iterator has ended or was closed. */
  readonly isClosed: () => boolean
}

/** `bytes` in chunks of 64 KiB; waits for `beforeChunk` of the chunk's offset before each. */
export function contentOf(
  bytes: Buffer,
  beforeChunk: (offset: number) => Promise<void> | void = () => {},
): WatchedContent {
  let isClosed = false
  async function* content() {
    try {
      for (let offset = 0; offset < bytes.length; offset += 65_536) {
        await beforeChunk(offset)
        yield bytes.subarray(offset, offset + 65_536)
      }
    } finally {
      isClosed = true
    }
  }
  return Object.assign(content(), { isClosed: () => isClosed })
}

/** Reads the blob under `key`; `undefined` if there is none. */
export async function read(store: BlobStore): Promise<Buffer | undefined> {
  const blob = await store.open(key)
  if (!blob) return undefined
  const chunks: Uint8Array[] = []
  for await (const chunk of blob.content) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Takes all that `source` yields. */
export async function drain(source: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of source);
}

/** Passes when the blob under `key` is one of `contents`, whole, and the only one of its customer. */
export async function expectOneOf(store: BlobStore, ...contents: readonly Buffer[]): Promise<void> {
  const found = await read(store)
  const index = contents.findIndex((each) => found?.equals(each))
  expect(index, `a whole blob; found are ${found?.length ?? 'no'} bytes`).to.be.at.least(0)
  const names: string[] = []
  for await (const page of store.list(key.customer)) names.push(...page)
  expect(names).to.deep.equal([key.name])
}
