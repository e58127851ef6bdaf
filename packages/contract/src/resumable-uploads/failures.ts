import {
  type AppendOptions,
  type ResumableUploads,
  type UploadKey,
  expiryWhenFullMs,
  type ResumableUpload,
} from '@holdfast/core'
import { expect } from 'chai'
import {
  pattern,
  failing,
  gated,
  inChunks,
  MiB,
  recorded,
  digest,
  generated,
} from '../support/content.ts'
import { expectBlob, expectRefusal, promptly, rejection, collect } from '../support/expectations.ts'
import {
  begin,
  expectBytes,
  key,
  offsetOf,
  uploadsOf,
  type ResumableHarness,
  type ResumableTest,
  alice,
  listedIds,
  longAfter,
  planOf,
} from '../support/resumable-harness.ts'

/** Bytes before an append ends: none, some, and more than a store may collect before it sends. */
const sizes = [0, 1, 300_000, 6 * MiB]

/** Bytes that arrived count, however an append ends, and the next one continues after them. */
export function interruptedAppends(test: ResumableTest): void {
  failingContent(test)
  aborts(test)
  interruptions(test)
  crashes(test)
}

function failingContent(test: ResumableTest): void {
  for (const size of sizes) {
    test(`keeps ${size} bytes when the content fails after them`, async (harness) => {
      const upload = await begin(harness.uploads)
      const error = new RangeError('the line is dead')
      const source = recorded(failing(pattern(size), error))
      expect(await rejection(harness.uploads.append(upload, 0, source))).to.equal(error)
      await expectBytes(harness.uploads, upload, pattern(size))
      await goOn(harness, upload, size)
    })
  }

  test('keeps nothing of content that cannot be iterated at all', async ({ uploads }) => {
    const upload = await begin(uploads)
    const error = new Error('no iterator')
    const content: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]() {
        throw error
      },
    }
    expect(await rejection(uploads.append(upload, 0, content))).to.equal(error)
    await uploads.append(upload, 0, inChunks(pattern(10)))
    await expectBytes(uploads, upload, pattern(10))
  })
}

function aborts(test: ResumableTest): void {
  for (const size of sizes) {
    test(`keeps ${size} bytes when the content stalls after them and the signal aborts`, async (harness) => {
      const { uploads } = harness
      const upload = await begin(uploads)
      const { content, stalled } = gated(pattern(size))
      const source = recorded(content)
      const controller = new AbortController()
      const append = uploads.append(upload, 0, source, { signal: controller.signal })
      await Promise.race([stalled, append])
      const reason = new Error('the client left')
      controller.abort(reason)
      expect(await rejection(append), 'the very reason').to.equal(reason)
      expect(source.isClosed(), 'content is closed').to.equal(true)
      await expectBytes(uploads, upload, pattern(size))
      await goOn(harness, upload, size)
    })
  }

  test('takes no content when the signal aborted before', async ({ uploads }) => {
    const upload = await begin(uploads)
    const content = recorded(inChunks(pattern(10)))
    const reason = new Error('gone before it began')
    const append = uploads.append(upload, 0, content, { signal: AbortSignal.abort(reason) })
    expect(await rejection(append)).to.equal(reason)
    expect(content.isClosed(), 'content is closed').to.equal(true)
    await expectBytes(uploads, upload, new Uint8Array())
  })

  test('keeps all bytes when the signal aborts in the last step', async ({ uploads }) => {
    const upload = await begin(uploads)
    const controller = new AbortController()
    const reason = new Error('aborted at the very end')
    async function* content() {
      yield* inChunks(pattern(100_000))
      controller.abort(reason)
    }
    const append = uploads.append(upload, 0, content(), { signal: controller.signal })
    expect(await rejection(append)).to.equal(reason)
    await expectBytes(uploads, upload, pattern(100_000))
  })

  test('takes no notice of an abort after the promise has settled', async ({ uploads }) => {
    const upload = await begin(uploads)
    const controller = new AbortController()
    await uploads.append(upload, 0, inChunks(pattern(10)), { signal: controller.signal })
    controller.abort(new Error('too late'))
    await uploads.append(upload, 10, inChunks(pattern(10, { offset: 10 })))
    await expectBytes(uploads, upload, pattern(20))
  })
}

function interruptions(test: ResumableTest): void {
  for (const size of sizes) {
    test(`keeps ${size} bytes of a stalled append that is interrupted`, async (harness) => {
      const { uploads } = harness
      const upload = await begin(uploads)
      const { append, source } = await stalledAppend(uploads, upload, size)
      await uploads.interrupt(upload)
      expect(await offsetOf(uploads, upload), 'offset after interrupt').to.equal(size)
      await expectRefusal(append, 'upload-conflict', 'the interrupted append')
      expect(source.isClosed(), 'content is closed').to.equal(true)
      await goOn(harness, upload, size)
    })
  }

  test('has nothing to interrupt where no append is under way', async ({ uploads }) => {
    const upload = await begin(uploads)
    await uploads.interrupt(upload)
    await uploads.append(upload, 0, inChunks(pattern(10)))
    await uploads.interrupt(upload)
    await uploads.append(upload, 10, inChunks(pattern(10, { offset: 10 })))
    await expectBytes(uploads, upload, pattern(20))
    await uploads.publish(upload)
    await uploads.interrupt(upload)
  })

  test('says the state, and lists, without waiting for an append', async ({ uploads }) => {
    const upload = await begin(uploads)
    await uploads.append(upload, 0, inChunks(pattern(10)))
    const { append } = await stalledAppend(uploads, upload, 1000, 10)
    expect(await promptly(offsetOf(uploads, upload), 'state')).to.be.within(10, 1010)
    for await (const page of uploads.list(upload.customer)) expect(page).to.have.length(1)
    await uploads.interrupt(upload)
    await expectRefusal(append, 'upload-conflict')
    await expectBytes(uploads, upload, pattern(1010))
  })

  test('ends a stalled append before it publishes', async ({ uploads, store }) => {
    const upload = await begin(uploads)
    const { append } = await stalledAppend(uploads, upload, 1000)
    await promptly(uploads.publish(upload), 'publish')
    await expectRefusal(append, 'upload-conflict', 'the append')
    await expectBlob(store, key, pattern(1000))
  })

  test('ends a stalled append before it discards', async ({ uploads }) => {
    const upload = await begin(uploads)
    const { append } = await stalledAppend(uploads, upload, 1000)
    expect(await promptly(uploads.discard(upload), 'discard')).to.equal(true)
    await expectRefusal(append, 'upload-conflict', 'the append')
    expect(await uploads.state(upload)).to.equal(undefined)
  })
}

function crashes(test: ResumableTest): void {
  test('goes on after a crash during an append, from no earlier than before', async (harness) => {
    const { uploads } = harness
    const upload = await begin(uploads, { length: 700_000, note: 'n' })
    await uploads.append(upload, 0, inChunks(pattern(100_000)))
    const { append } = await stalledAppend(uploads, upload, 300_000, 100_000)
    const seen = await offsetOf(uploads, upload)
    const store = await crash(harness, append, () => uploads.interrupt(upload))
    const reopened = uploadsOf(store)
    const offset = await offsetOf(reopened, upload)
    expect(offset, 'the offset').to.be.within(seen, 400_000)
    await expectBytes(reopened, upload, pattern(offset))
    await reopened.append(upload, offset, inChunks(pattern(700_000 - offset, { offset })))
    await reopened.publish(upload)
    await expectBlob(store, key, pattern(700_000))
  })
}

/** Opens the store as the next process would after a crash; if the harness cannot crash, ends the append by `interrupt`. */
async function crash(
  { openAfterCrash, openAgain }: ResumableHarness,
  append: Promise<unknown>,
  interrupt: () => Promise<void>,
) {
  append.catch(() => {})
  if (openAfterCrash) return openAfterCrash()
  await interrupt()
  return openAgain()
}

/** An append at `offset` of which `size` bytes have been taken; no more arrive. */
export async function stalledAppend(
  uploads: ResumableUploads,
  upload: UploadKey,
  size: number,
  offset = 0,
  options?: AppendOptions,
) {
  const { content, stalled } = gated(pattern(size, { offset }))
  const source = recorded(content)
  const append = uploads.append(upload, offset, source, options)
  // It may reject before the test awaits it.
  append.catch(() => {})
  await Promise.race([stalled, append])
  return { append, source }
}

/** Passes if the upload continues at `offset`, and the published blob is complete. */
async function goOn(
  { uploads, store }: ResumableHarness,
  upload: UploadKey,
  offset: number,
): Promise<void> {
  await uploads.append(upload, offset, inChunks(pattern(1000, { offset })))
  await uploads.publish(upload)
  await expectBlob(store, key, pattern(offset + 1000))
}

const before = 100_000

/** Sizes of the appends: some bytes, and more than a store may collect before it sends. */
const addedSizes = [1, 300_000, 11 * MiB]

/** Either all bytes of such an append count, or none. */
export function allOrNothing(test: ResumableTest): void {
  for (const size of addedSizes) {
    test(`keeps none of ${size} bytes when the content fails`, async ({ uploads, store }) => {
      const upload = await begin(uploads)
      await uploads.append(upload, 0, inChunks(pattern(before)))
      const error = new Error('the digest differs')
      const content = failing(pattern(size, { seed: 9 }), error)
      const append = uploads.append(upload, before, content, { allOrNothing: true })
      expect(await rejection(append)).to.equal(error)
      await expectBytes(uploads, upload, pattern(before))
      const more = inChunks(pattern(size, { offset: before }))
      const reached = await uploads.append(upload, before, more, { allOrNothing: true })
      expect(reached).to.equal(before + size)
      await uploads.publish(upload)
      await expectBlob(store, key, pattern(before + size))
    })
  }

  test('keeps nothing when the signal aborts', async ({ uploads }) => {
    const upload = await begin(uploads)
    await uploads.append(upload, 0, inChunks(pattern(before)))
    const controller = new AbortController()
    const options = { allOrNothing: true, signal: controller.signal }
    const { append } = await stalledAppend(uploads, upload, 1000, before, options)
    const reason = new Error('the client left')
    controller.abort(reason)
    expect(await rejection(append)).to.equal(reason)
    await expectBytes(uploads, upload, pattern(before))
  })

  test('keeps nothing when it is interrupted', async ({ uploads }) => {
    const upload = await begin(uploads)
    await uploads.append(upload, 0, inChunks(pattern(before)))
    const options = { allOrNothing: true }
    const { append } = await stalledAppend(uploads, upload, 1000, before, options)
    await uploads.interrupt(upload)
    await expectRefusal(append, 'upload-conflict')
    await expectBytes(uploads, upload, pattern(before))
  })

  test('shows none of the bytes before the end', async ({ uploads }) => {
    const upload = await begin(uploads)
    const { append } = await stalledAppend(uploads, upload, 7 * MiB, 0, { allOrNothing: true })
    expect((await uploads.state(upload))?.offset).to.equal(0)
    await uploads.interrupt(upload)
    await expectRefusal(append, 'upload-conflict')
    expect((await uploads.state(upload))?.offset).to.equal(0)
  })
}

/** A full store reports that, keeps the bytes that arrived, and continues to work. */
export function fullForUploads(test: ResumableTest): void {
  test('refuses what does not fit, and keeps what it has reported before', async ({ uploads }) => {
    const upload = await begin(uploads)
    const content = recorded(generated(64 * MiB))
    let reported = 0
    const onState = (state: ResumableUpload) => (reported = state.offset)
    await expectRefusal(uploads.append(upload, 0, content, { onState }), 'insufficient-storage')
    expect(content.isClosed(), 'content is closed').to.equal(true)
    const offset = await offsetOf(uploads, upload)
    expect(offset, 'what came')
      .to.be.below(64 * MiB)
      .and.at.least(reported)
    expect(await digest(uploads.content(upload))).to.deep.equal(await digest(generated(offset)))
    expect(await uploads.discard(upload)).to.equal(true)
    const next = await begin(uploads)
    await uploads.append(next, 0, inChunks(pattern(1000)))
    await expectBytes(uploads, next, pattern(1000))
  })

  test('lets an upload that did not fit expire soon, unless it goes on', async ({
    uploads,
    store,
  }) => {
    const upload = await begin(uploads, { expiresAfterMs: 10 * expiryWhenFullMs })
    await expectRefusal(uploads.append(upload, 0, generated(64 * MiB)), 'insufficient-storage')
    await store.put({ customer: 'bob', name: 'small' }, inChunks(pattern(3)))
    const lifetime = async () => {
      const { expiresAt = new Date(0) } = (await uploads.state(upload)) ?? {}
      return expiresAt.getTime() - Date.now()
    }
    expect(await lifetime()).to.be.within(0.9 * expiryWhenFullMs, 1.1 * expiryWhenFullMs)
    await uploads.append(upload, await offsetOf(uploads, upload), inChunks(pattern(3)))
    expect(await lifetime()).to.be.above(9 * expiryWhenFullMs)
  })
}

/** An unreachable store reports that in every method, and never as absence. */
export function unreachableForUploads(test: ResumableTest): void {
  test('refuses to say what is there, and to change it', async ({ uploads }) => {
    const upload = { customer: alice, id: 'x'.repeat(32) }
    await expectRefusal(uploads.begin(alice, planOf()), 'store-unavailable', 'begin')
    await expectRefusal(uploads.state(upload), 'store-unavailable', 'state')
    const content = recorded(generated(6 * MiB))
    await expectRefusal(uploads.append(upload, 0, content), 'store-unavailable', 'append')
    expect(content.isClosed(), 'content is closed').to.equal(true)
    await expectRefusal(uploads.declareLength(upload, 1), 'store-unavailable', 'declareLength')
    await expectRefusal(collect(uploads.content(upload)), 'store-unavailable', 'content')
    await expectRefusal(uploads.publish(upload), 'store-unavailable', 'publish')
    const info = { name: 'a', size: 1, modifiedAt: new Date(0), etag: 'x' }
    expect(await uploads.remember(alice, planOf(), info), 'remember').to.include({ offset: 1 })
    await expectRefusal(uploads.discard(upload), 'store-unavailable', 'discard')
    await expectRefusal(listedIds(uploads, alice), 'store-unavailable', 'list')
    await expectRefusal(uploads.sweep(longAfter()), 'store-unavailable', 'sweep')
  })
}
