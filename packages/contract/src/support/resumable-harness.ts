import type { BlobStore, ResumableUploads, UploadKey, UploadPlan } from '@holdfast/core'
import { AssertionError, expect } from 'chai'
import type { BlobStoreHarness } from './suite.ts'
import { digest } from './content.ts'

/** A store made for one test, with its uploads. */
export interface ResumableHarness extends BlobStoreHarness {
  readonly uploads: ResumableUploads
}

/** Declares one test, which gets its own harness. */
export type ResumableTest = (
  fact: string,
  body: (harness: ResumableHarness) => Promise<void>,
) => void

/** The uploads of `store`; throws if it has none. */
export function uploadsOf({ resumable }: BlobStore): ResumableUploads {
  if (resumable) return resumable
  throw new AssertionError('the store has no property "resumable"')
}

export const hourMs = 60 * 60 * 1000

/** The customer and the name that most tests use. */
export const alice = 'alice'
export const key = { customer: alice, name: 'report.pdf' }

/** A plan for {@link key} that expires after an hour. */
export function planOf(more: Partial<UploadPlan> = {}): UploadPlan {
  return { name: key.name, expiresAfterMs: hourMs, ...more }
}

/** Begins an upload of alice. */
export async function begin(
  uploads: ResumableUploads,
  more: Partial<UploadPlan> = {},
): Promise<UploadKey> {
  const { id } = await uploads.begin(alice, planOf(more))
  return { customer: alice, id }
}

/** Passes if the upload's content is `bytes`, and its offset is right after them. */
export async function expectBytes(
  uploads: ResumableUploads,
  upload: UploadKey,
  bytes: Uint8Array,
): Promise<void> {
  expect(await offsetOf(uploads, upload), 'offset').to.equal(bytes.length)
  expect(await digest(uploads.content(upload)), 'content').to.deep.equal(await digest([bytes]))
}

/** The offset of the upload; throws if there is none. */
export async function offsetOf(uploads: ResumableUploads, upload: UploadKey): Promise<number> {
  const state = await uploads.state(upload)
  if (state) return state.offset
  throw new AssertionError('there is no such upload')
}

/** The ids on all pages of `list`. */
export async function listedIds(uploads: ResumableUploads, customer: string): Promise<string[]> {
  const ids: string[] = []
  for await (const page of uploads.list(customer)) {
    expect(page.length, 'entries of a page').to.be.within(1, 1024)
    ids.push(...page.map(({ id }) => id))
  }
  return ids
}

/** An instant by which every upload of the tests has expired. */
export function longAfter(): Date {
  return new Date(Date.now() + 1000 * hourMs)
}
