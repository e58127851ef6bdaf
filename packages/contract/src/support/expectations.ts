import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  isFileServiceError,
  type BlobInfo,
  type BlobKey,
  type BlobStore,
  type ErrorCode,
  type ListOptions,
} from '@holdfast/core'
import { AssertionError, expect } from 'chai'
import type { BlobStoreHarness } from './suite.ts'
import { digest, pattern, slow } from './content.ts'

/** Longer than an immediate result takes on a busy machine, shorter than the time limits of test frameworks. */
const promptMs = 5000

/** Settles as `promise` does; fails with "`what` has not settled" if that takes longer than five seconds. */
export async function promptly<T>(promise: Promise<T>, what: string): Promise<T> {
  const timer = new AbortController()
  const late = delay(promptMs, undefined, { signal: timer.signal }).then(() => {
    throw new AssertionError(`${what} has not settled within ${promptMs} ms`)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    timer.abort()
    late.catch(() => {})
  }
}

/** The reason with which `promise` rejects; fails if it resolves, or hangs. */
export async function rejection(promise: Promise<unknown>, what = 'the call'): Promise<unknown> {
  const outcome = await promptly(
    promise.then(
      () => ({ resolved: true, error: undefined }),
      (error: unknown) => ({ resolved: false, error }),
    ),
    what,
  )
  expect(outcome.resolved, `${what} resolves instead of rejecting`).to.equal(false)
  return outcome.error
}

/** Passes if `promise` rejects with a `FileServiceError` of `code`. */
export async function expectRefusal(
  promise: Promise<unknown>,
  code: ErrorCode,
  what = 'the call',
): Promise<void> {
  const error = await rejection(promise, what)
  expect(
    isFileServiceError(error, code),
    `${what} rejects with ${code}, not ${String(error)}`,
  ).to.equal(true)
}

/** Passes if the blob `key` has exactly `bytes`, and `stat` and `open` report the same. */
export async function expectBlob(store: BlobStore, key: BlobKey, bytes: Uint8Array): Promise<void> {
  const blob = await store.open(key)
  if (!blob) throw new AssertionError(`there is no blob ${JSON.stringify(key)}`)
  expect(await digest(blob.content), `content of ${JSON.stringify(key)}`).to.deep.equal(
    await digest([bytes]),
  )
  await blob.close()
  expect(blob.range).to.deep.equal({ offset: 0, length: bytes.length })
  expect(blob.info.name).to.equal(key.name)
  expect(blob.info.size).to.equal(bytes.length)
  expect(await store.stat(key), 'stat').to.deep.equal(blob.info)
}

/** Passes if no method finds a blob under `key`. */
export async function expectAbsent(store: BlobStore, key: BlobKey): Promise<void> {
  expect(await store.stat(key), 'stat').to.equal(undefined)
  expect(await store.open(key), 'open').to.equal(undefined)
  expect(await names(store, key.customer), 'list').not.to.include(key.name)
  const listed = (await details(store, key.customer)).map(({ name }) => name)
  expect(listed, 'listDetails').not.to.include(key.name)
}

/** The names on all pages of `list`. */
export async function names(
  store: BlobStore,
  customer: string,
  options?: ListOptions,
): Promise<string[]> {
  return (await collect(store.list(customer, options))).flat()
}

/** The entries on all pages of `listDetails`. */
export async function details(
  store: BlobStore,
  customer: string,
  options?: ListOptions,
): Promise<BlobInfo[]> {
  return (await collect(store.listDetails(customer, options))).flat()
}

/** All items of `source`. */
export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const each of source) found.push(each)
  return found
}

/** Passes if the store has no left-over data and holds no resources. */
export async function expectTidy(harness: BlobStoreHarness): Promise<void> {
  expect(await harness.litter(), 'litter').to.deep.equal([])
  expect(await harness.heldResources(), 'resources still held').to.equal(0)
}

const key = { customer: 'alice', name: 'contended' }

/** Passes if of simultaneous create-only puts, one through each of `stores`, exactly one succeeds and its blob is kept. */
export async function expectOneWinner(stores: readonly BlobStore[]): Promise<void> {
  const contentOf = (index: number) => pattern(70_000 + index, { seed: index })
  const outcomes = await Promise.allSettled(
    stores.map((store, index) => store.put(key, slow(contentOf(index)), { createOnly: true })),
  )
  const winners = [...outcomes.keys()].filter((index) => outcomes[index]?.status === 'fulfilled')
  expect(winners, 'winners').to.have.length(1)
  for (const outcome of outcomes) {
    if (outcome.status === 'fulfilled') continue
    expect(isFileServiceError(outcome.reason, 'already-exists'), String(outcome.reason)).to.equal(
      true,
    )
  }
  for (const store of stores) {
    for (const winner of winners) await expectBlob(store, key, contentOf(winner))
  }
}

/** Bytes of live JavaScript objects and of buffers outside the heap, right after a garbage collection. */
export function memoryInUse(): number {
  // One collection finds dead buffers, but only the next one subtracts their bytes.
  collectGarbage()
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  // Bun counts buffers in both.
  return 'bun' in process.versions ? heapUsed : heapUsed + external
}

// Without this, garbage that V8 has not collected yet would count as memory in use.
function collectGarbage(): void {
  // Bun and Deno have `gc` if they were started with --expose-gc; Node.js accepts the flag later, too.
  if (globalThis.gc === undefined) setFlagsFromString('--expose-gc')
  const gc: unknown = globalThis.gc ?? runInNewContext('gc')
  if (typeof gc === 'function') Reflect.apply(gc, undefined, [])
}
