import { setTimeout as delay } from 'node:timers/promises'
import type { RunningMinio } from '@holdfast/testing/minio'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import type { MinioBlobStore, MinioBlobStoreOptions } from '../../src/minio-blob-store.ts'
import { openServerKnown } from '../open-server-known.ts'
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts'

/** A store in a bucket of its own, whose way to the server can be broken. */
export interface FaultyStore {
  readonly store: MinioBlobStore
  readonly proxy: FaultProxy
  /** The same bucket, without the proxy. */
  readonly direct: MinioBlobStore
  readonly minio: RunningMinio
  readonly bucket: string
}

/** Opens a faulty store, runs `body` with it, and sees to it that no connection is left in use. */
export async function withFaultyStore(
  minio: RunningMinio,
  options: Partial<MinioBlobStoreOptions>,
  body: (faulty: FaultyStore) => Promise<void>,
): Promise<void> {
  const bucket = await minio.createBucket()
  const { accessKey, secretKey, region } = minio
  const settings = { bucket, accessKey, secretKey, region }
  const proxy = await startFaultProxy(minio.endpoint)
  const direct = await openServerKnown({ endpoint: minio.endpoint, ...settings })
  const through = { endpoint: proxy.endpoint, ...settings, ...options }
  // The proxy lets all pass as yet.
  const opening = openServerKnown(through, minio.endpoint)
  const store = await opening.catch(async (error: unknown) => {
    // Else the test's process would not end.
    await Promise.all([direct.close(), proxy.close()])
    throw error
  })
  try {
    await body({ store, proxy, direct, minio, bucket })
    await until('all connections are given back', () => store.busyConnections() === 0)
  } finally {
    await Promise.all([store.close(), direct.close()])
    await proxy.close()
  }
}

/** Opens the bucket once more, so that what others have left unfinished is swept, and passes when nothing is left. */
export async function expectSwept({ minio, bucket }: FaultyStore): Promise<void> {
  const { endpoint, accessKey, secretKey, region } = minio
  const options = { endpoint, bucket, accessKey, secretKey, region, staleUploadAfterMs: 0 }
  const store = await openServerKnown(options)
  try {
    await until(
      'unfinished uploads are removed',
      async () => (await minio.unfinishedUploads(bucket)).length === 0,
    )
  } finally {
    await store.close()
  }
}

/** Passes when `promise` settles in time; default: half a minute, which is less than the store's default timeouts. */
export async function inTime<T>(promise: Promise<T>, what: string, limitMs = 30_000): Promise<T> {
  const timer = new AbortController()
  const late = delay(limitMs, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`${what} hangs`)
  })
  late.catch(() => {})
  return Promise.race([promise, late]).finally(() => timer.abort())
}

/** What `promise` rejects with. */
export async function failureOf(
  promise: Promise<unknown>,
  what: string,
  limitMs?: number,
): Promise<unknown> {
  const resolved = Symbol('resolved')
  const outcome = await inTime(
    promise.then(
      () => resolved,
      (error: unknown) => error,
    ),
    what,
    limitMs,
  )
  expect(outcome, `${what} resolves`).not.to.equal(resolved)
  return outcome
}

/** Passes when `promise` rejects with `store-unavailable` in time. */
export async function expectUnavailable(
  promise: Promise<unknown>,
  what: string,
  limitMs?: number,
): Promise<void> {
  const error = await failureOf(promise, what, limitMs)
  expect(error, `${what}: ${String(error)}`).to.have.property('code', 'store-unavailable')
}
