import type { BlobKey, BlobStore, History, KeptBlob } from '@holdfast/core'
import { AssertionError, expect } from 'chai'
import type { BlobStoreHarness } from '../support/suite.ts'
import { collect } from '../support/expectations.ts'
import { digest, pattern, inChunks } from '../support/content.ts'

export interface HistoryHarness extends BlobStoreHarness {
  readonly history: History
}

export type HistoryTest = (fact: string, body: (harness: HistoryHarness) => Promise<void>) => void

export function historyOf({ history }: BlobStore): History {
  if (history) return history
  throw new AssertionError('the store has no property "history"')
}

export const key = { customer: 'alice', name: 'a' }
export const other = { customer: 'alice', name: 'b' }
export const keep = { keepReplaced: true }

export function bytesOf(index: number): Uint8Array {
  return pattern(1000 + index, { seed: index })
}

export const put = (store: BlobStore, to: BlobKey, index: number) =>
  store.put(to, inChunks(bytesOf(index)), keep)

export const versionsOf = async (history: History, of: BlobKey): Promise<readonly KeptBlob[]> =>
  (await collect(history.versions(of))).flat()

export const sizesOf = (kept: readonly KeptBlob[]) => kept.map(({ size }) => size)

/** Passes if exactly these contents are kept of the name, newest first. */
export async function expectKept(history: History, of: BlobKey, newestFirst: readonly number[]) {
  const kept = await versionsOf(history, of)
  expect(sizesOf(kept), `sizes kept of ${JSON.stringify(of)}`).to.deep.equal(
    newestFirst.map((index) => 1000 + index),
  )
  for (const [at, { version }] of kept.entries()) {
    await expectContent(history, of, version, bytesOf(newestFirst[at] ?? 0))
  }
}

export async function expectContent(
  history: History,
  of: BlobKey,
  version: string,
  bytes: Uint8Array,
) {
  const opened = await history.open({ ...of, version })
  if (!opened) throw new AssertionError(`there is no version ${version} of ${JSON.stringify(of)}`)
  expect(await digest(opened.content), `content of ${version}`).to.deep.equal(await digest([bytes]))
  await opened.close()
}

export async function newestOf(history: History, of: BlobKey): Promise<KeptBlob> {
  const [newest] = await versionsOf(history, of)
  if (newest) return newest
  throw new AssertionError(`nothing is kept of ${JSON.stringify(of)}`)
}
