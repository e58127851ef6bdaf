import { setTimeout as delay } from 'node:timers/promises'
import type { ResumableUploads, UploadKey } from '@holdfast/core'
import { AssertionError, expect } from 'chai'
import { expectBlob, expectRefusal, expectTidy } from '../support/expectations.ts'
import { pattern, inChunks, MiB } from '../support/content.ts'
import {
  alice,
  begin,
  expectBytes,
  hourMs,
  key,
  listedIds,
  longAfter,
  planOf,
  uploadsOf,
  type ResumableTest,
} from '../support/resumable-harness.ts'
import { expectAbsent } from './beginning.ts'
import { stalledAppend } from './failures.ts'

/** Uploads without progress expire; others do not. */
export function expiring(test: ResumableTest): void {
  expired(test)
  sweeping(test)
}

function expired(test: ResumableTest): void {
  test('is as good as absent once it has expired', async ({ uploads, openAgain }) => {
    const upload = await begin(uploads, { expiresAfterMs: 1 })
    await untilAbsent(uploads, upload)
    await expectAbsent(uploads, upload)
    await expectAbsent(uploadsOf(await openAgain()), upload)
    expect(await listedIds(uploads, alice)).to.deep.equal([])
  })

  test('expires later after each change', async ({ uploads }) => {
    const { id, expiresAt: first } = await uploads.begin(alice, planOf())
    const upload = { customer: alice, id }
    let offset = 0
    const append = async () => {
      offset = await uploads.append(upload, offset, inChunks(pattern(1)))
    }
    const second = await laterThan(first, uploads, upload, append)
    await laterThan(second, uploads, upload, append)
    const { expiresAt: last } = (await uploads.state(upload)) ?? { expiresAt: new Date(0) }
    await uploads.publish(upload)
    const published = await uploads.state(upload)
    expect(published?.expiresAt.getTime(), 'after publishing').to.be.at.least(last.getTime())
  })
}

function sweeping(test: ResumableTest): void {
  test('removes what has expired, of all customers, and says how many', async (harness) => {
    const { uploads } = harness
    const upload = await begin(uploads)
    await uploads.append(upload, 0, inChunks(pattern(6 * MiB)))
    await uploads.begin(alice, planOf({ length: 10 }))
    await uploads.begin('bob', planOf())
    expect(await uploads.sweep(longAfter()), 'removed').to.equal(3)
    await expectTidy(harness)
    await expectAbsent(uploads, upload)
    expect(await uploads.sweep(longAfter()), 'removed again').to.equal(0)
  })

  test('leaves alone what has not expired', async ({ uploads }) => {
    const kept = await begin(uploads, { expiresAfterMs: 48 * hourMs })
    await uploads.append(kept, 0, inChunks(pattern(1000)))
    await begin(uploads)
    expect(await uploads.sweep(new Date()), 'removed now').to.equal(0)
    const inADay = new Date(Date.now() + 24 * hourMs)
    expect(await uploads.sweep(inADay), 'removed in a day').to.equal(1)
    await expectBytes(uploads, kept, pattern(1000))
    expect(await listedIds(uploads, alice)).to.deep.equal([kept.id])
  })

  test('leaves blobs alone, and does not count what was published', async (harness) => {
    const { uploads, store } = harness
    await store.put({ ...key, name: 'other' }, inChunks(pattern(10)))
    const upload = await begin(uploads)
    await uploads.append(upload, 0, inChunks(pattern(1000)))
    await uploads.publish(upload)
    expect(await uploads.sweep(longAfter())).to.equal(0)
    await expectTidy(harness)
    expect(await uploads.state(upload)).to.equal(undefined)
    await expectBlob(store, key, pattern(1000))
    await expectBlob(store, { ...key, name: 'other' }, pattern(10))
  })

  test('leaves alone an upload with an append under way', async ({ uploads }) => {
    const upload = await begin(uploads)
    const { append } = await stalledAppend(uploads, upload, 1000)
    await uploads.sweep(longAfter())
    await uploads.interrupt(upload)
    await expectRefusal(append, 'upload-conflict')
    await expectBytes(uploads, upload, pattern(1000))
  })

  test('is shared by two openings that sweep at once', async (harness) => {
    const { uploads, openAgain } = harness
    const other = uploadsOf(await openAgain())
    await Promise.all(Array.from({ length: 10 }, () => begin(uploads)))
    const counts = await Promise.all([uploads.sweep(longAfter()), other.sweep(longAfter())])
    expect(counts[0] + counts[1], 'removed').to.be.at.least(10)
    await expectTidy(harness)
  })
}

/** Resolves when the upload has expired; rejects if it has not after half a minute. */
async function untilAbsent(uploads: ResumableUploads, upload: UploadKey): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if ((await uploads.state(upload)) === undefined) return
    await delay(50)
  }
  throw new AssertionError('the upload has not expired')
}

/** Changes the upload until its expiry is later than `time`: a clock may stand still for some milliseconds. */
async function laterThan(
  time: Date,
  uploads: ResumableUploads,
  upload: UploadKey,
  change: () => Promise<void>,
): Promise<Date> {
  for (let tries = 0; tries < 100; tries++) {
    await delay(20)
    await change()
    const { expiresAt = time } = (await uploads.state(upload)) ?? {}
    if (expiresAt > time) return expiresAt
  }
  throw new AssertionError('the changes did not put the expiry off')
}
