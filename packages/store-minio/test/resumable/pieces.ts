import { AssertionError, expect } from 'chai'
import type { BlobStore, ResumableUploads, UploadKey } from '@holdfast/core'
import type { RunningMinio } from '@holdfast/testing/minio'
import { ListObjectsV2Command } from '@aws-sdk/client-s3'
import { bytesOf, contentOf, expectOneOf, key, MiB } from '../faults/blobs.ts'

/** A file that comes in pieces: a part, a tail, and a tail that is rewritten. */
export const whole = bytesOf(6 * MiB + 2000, 7)

/** Where each piece begins and ends. */
export const cuts: readonly (readonly [from: number, to: number])[] = [
  [0, 6 * MiB],
  [6 * MiB, 6 * MiB + 1000],
  [6 * MiB + 1000, whole.length],
]

export const hourMs = 60 * 60 * 1000

export function uploadsOf({ resumable }: BlobStore): ResumableUploads {
  if (resumable) return resumable
  throw new AssertionError('the store keeps no uploads in pieces')
}

/** Begins an upload of {@link whole}. */
export async function begin(
  store: BlobStore,
  createOnly = false,
  expiresAfterMs = hourMs,
): Promise<UploadKey> {
  const plan = { name: key.name, length: whole.length, createOnly, expiresAfterMs }
  const { id } = await uploadsOf(store).begin(key.customer, plan)
  return { customer: key.customer, id }
}

/** Appends what lies between two offsets. */
export function append(store: BlobStore, upload: UploadKey, from: number, to: number) {
  return uploadsOf(store).append(upload, from, contentOf(whole.subarray(from, to)))
}

/** Passes when the blob is there, whole, and a sweep long after leaves nothing beside it. */
export async function expectPublished(
  store: BlobStore,
  { client }: RunningMinio,
  bucket: string,
): Promise<void> {
  await expectOneOf(store, whole)
  await uploadsOf(store).sweep(new Date(Date.now() + 100 * hourMs))
  const { Contents: objects = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }))
  expect(objects.map(({ Key }) => Key)).to.deep.equal([`${key.customer}/${key.name}`])
}
