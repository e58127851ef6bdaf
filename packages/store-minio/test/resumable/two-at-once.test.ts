import { mock } from 'node:test'
import { GetObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3'
import { until } from '@holdfast/testing'
import { describeWithMinio } from '@holdfast/testing/minio'
import type { UploadKey } from '@holdfast/core'
import { expect } from 'chai'
import type { MinioBlobStore, MinioBlobStoreOptions } from '../../src/minio-blob-store.ts'
import { bytesOf, contentOf, drain, expectOneOf, key, MiB, read } from '../faults/blobs.ts'
import { failureOf, inTime } from '../faults/faulty-store.ts'
import { openServerKnown } from '../open-server-known.ts'
import { type HoldingProxy, startHoldingProxy } from './holding-proxy.ts'
import { append, begin, expectPublished, hourMs, uploadsOf, whole } from './pieces.ts'

const requests = {
  record: /^PUT \S*records\//,
  tail: /^GET \S*parts\//,
  copy: /^PUT \S*UploadPartCopy/,
  parts: /^GET \S*uploadId=/,
  completion: /^POST \S*uploadId=/,
}

/** What a process that is not these has stored. */
const theirs = bytesOf(1000, 9)

/** Two processes on one bucket, a proxy before each, and a third one that has none. */
interface Processes {
  readonly first: MinioBlobStore
  readonly second: MinioBlobStore
  readonly third: MinioBlobStore
  readonly firstWay: HoldingProxy
  readonly secondWay: HoldingProxy
  readonly bucket: string
}

describeWithMinio('openMinioBlobStore, where two processes publish one upload', (minio) => {
  async function withProcesses(
    body: (processes: Processes) => Promise<void>,
    options: Partial<MinioBlobStoreOptions> = {},
  ): Promise<void> {
    const { accessKey, secretKey, region, endpoint: target } = minio()
    const bucket = await minio().createBucket()
    const open = (endpoint: string) =>
      openServerKnown({ endpoint, bucket, accessKey, secretKey, region, ...options }, target)
    await using firstWay = await startHoldingProxy(target)
    await using secondWay = await startHoldingProxy(target)
    const ways = [firstWay.endpoint, secondWay.endpoint, target]
    const [first, second, third] = await Promise.all(ways.map(open))
    if (!first || !second || !third) throw new Error('There are three ways')
    try {
      await body({ first, second, third, firstWay, secondWay, bucket })
    } finally {
      // A test that has failed leaves requests that wait.
      for (const way of [firstWay, secondWay]) way.cut()
      await Promise.all([first, second, third].map((store) => store.close()))
    }
  }

  async function beginWhole(store: MinioBlobStore, createOnly: boolean): Promise<UploadKey> {
    const upload = await begin(store, createOnly, 24 * hourMs)
    await append(store, upload, 0, whole.length)
    return upload
  }

  /** Has both processes know of one publication, with its parts, and complete it when they are released. */
  async function bothAtCompletion(
    { first, second, firstWay, secondWay }: Processes,
    upload: UploadKey,
  ) {
    const held = [firstWay.hold(requests.completion), secondWay.hold(requests.completion)] as const
    const publishing = uploadsOf(first).publish(upload)
    await held[0].reached
    const later = uploadsOf(second).publish(upload)
    for (const each of [publishing, later]) each.catch(() => {})
    await held[1].reached
    return { publishing, later, held }
  }

  /** The text of the only record in the bucket. */
  async function recordIn(bucket: string): Promise<string> {
    const { client } = minio()
    const { Contents: all = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }))
    const Key = all.find((one) => one.Key?.includes('records/'))?.Key
    const found = await client.send(new GetObjectCommand({ Bucket: bucket, Key }))
    return (await found.Body?.transformToString()) ?? ''
  }

  it('keeps the parts of an append that lists them at its end, however long that takes', () =>
    withProcesses(async ({ first, second, bucket }) => {
      const content = bytesOf(20 * MiB, 3)
      const plan = { name: key.name, expiresAfterMs: 48 * hourMs }
      const { id } = await uploadsOf(first).begin(key.customer, plan)
      const upload = { customer: key.customer, id }
      const swept = Promise.withResolvers<undefined>()
      async function* slowly() {
        yield content.subarray(0, 17 * MiB)
        await swept.promise
        yield content.subarray(17 * MiB)
      }
      mock.timers.enable({ apis: ['setInterval'] })
      try {
        const appending = uploadsOf(first).append(upload, 0, slowly(), { allOrNothing: true })
        const untilRenewed = async () => {
          const before = await recordIn(bucket)
          await until('the append says that it goes on', async () => {
            mock.timers.tick(hourMs)
            return (await recordIn(bucket)) !== before
          })
        }
        await untilRenewed()
        await uploadsOf(second).declareLength(upload, content.length)
        await untilRenewed()
        expect(await uploadsOf(second).sweep(new Date(Date.now() + 7 * hourMs))).to.equal(0)
        swept.resolve(undefined)
        expect(await appending).to.equal(content.length)
      } finally {
        mock.timers.reset()
      }
      await uploadsOf(second).publish(upload)
      await expectOneOf(second, content)
    }))

  it('calls nothing stored that the other one has withdrawn', () =>
    withProcesses(async (processes) => {
      const { first, second, third, firstWay, secondWay, bucket } = processes
      const upload = await beginWhole(first, true)
      const completion = firstWay.hold(requests.completion)
      const publishing = uploadsOf(first).publish(upload)
      publishing.catch(() => {})
      await completion.reached
      await third.put(key, contentOf(theirs))
      const look = secondWay.hold(requests.parts)
      const later = uploadsOf(second).publish(upload)
      later.catch(() => {})
      await look.reached
      completion.release()
      expect(await failureOf(publishing, 'publish')).to.have.property('code', 'already-exists')
      look.release()
      expect(await failureOf(later, 'publish')).to.have.property('code', 'already-exists')
      await expectOneOf(third, theirs)
      expect(await uploadsOf(third).state(upload)).to.deep.include({ offset: whole.length })
      await third.delete(key)
      expect(await uploadsOf(third).publish(upload)).to.deep.include({ size: whole.length })
      await expectPublished(third, minio(), bucket)
    })).timeout(60_000)

  it('calls nothing stored that was discarded meanwhile', () =>
    withProcesses(async (processes) => {
      const upload = await beginWhole(processes.first, false)
      const { publishing, later, held } = await bothAtCompletion(processes, upload)
      expect(await uploadsOf(processes.third).discard(upload)).to.equal(true)
      for (const { release } of held) release()
      for (const each of [publishing, later]) {
        expect(await failureOf(each, 'publish')).to.have.property('code', 'upload-not-found')
      }
      expect(await read(processes.third)).to.equal(undefined)
    })).timeout(60_000)

  it('withdraws nothing that the other one has completed', () =>
    withProcesses(async (processes) => {
      const { first, firstWay, third } = processes
      const upload = await beginWhole(first, true)
      const { publishing, later, held } = await bothAtCompletion(processes, upload)
      const answer = firstWay.hold(requests.record)
      held[0].release()
      await answer.reached
      await third.put(key, contentOf(theirs))
      held[1].release()
      answer.release()
      const info = await inTime(publishing, 'publish')
      expect(await inTime(later, 'publish')).to.deep.equal(info)
      await third.delete(key)
      expect(await uploadsOf(third).publish(upload)).to.deep.equal(info)
      expect(await read(third)).to.equal(undefined)
    })).timeout(60_000)

  it('never brings back what was published and deleted before any record said so', () =>
    withProcesses(async (processes) => {
      const { first, firstWay, third } = processes
      const upload = await beginWhole(first, true)
      const { publishing, later, held } = await bothAtCompletion(processes, upload)
      // The first one stands still before it notes the publication.
      const note = firstWay.hold(requests.record)
      held[0].release()
      await note.reached
      await third.put(key, contentOf(theirs))
      held[1].release()
      const info = await inTime(later, 'publish')
      await third.delete(key)
      expect(await uploadsOf(third).publish(upload)).to.deep.equal(info)
      expect(await read(third)).to.equal(undefined)
      note.release()
      expect(await inTime(publishing, 'publish')).to.deep.equal(info)
      expect(await read(third)).to.equal(undefined)
    })).timeout(60_000)

  /** An upload that a process has published and not noted before it ended, and whose blob was replaced and deleted since. */
  async function leaveUnnoted({ first, firstWay, third }: Processes): Promise<UploadKey> {
    const upload = await beginWhole(first, false)
    const completion = firstWay.hold(requests.completion)
    const publishing = uploadsOf(first).publish(upload)
    publishing.catch(() => {})
    await completion.reached
    const note = firstWay.hold(requests.record)
    completion.release()
    await note.reached
    await third.put(key, contentOf(theirs))
    await third.delete(key)
    return upload
  }

  it('notes in a sweep what a process has published that ended before it did so', () =>
    withProcesses(async (processes) => {
      const upload = await leaveUnnoted(processes)
      const { third } = processes
      expect(await uploadsOf(third).state(upload)).not.to.have.property('published')
      expect(await uploadsOf(third).sweep(new Date(Date.now() + hourMs / 1.5))).to.equal(0)
      const { published } = (await uploadsOf(third).state(upload)) ?? {}
      expect(published).to.deep.include({ name: key.name, size: whole.length })
      expect(await uploadsOf(third).publish(upload)).to.deep.equal(published)
      expect(await read(third)).to.equal(undefined)
    })).timeout(60_000)

  it('sweeps nothing that is being published', () =>
    withProcesses(async ({ first, firstWay, third, bucket }) => {
      const upload = await beginWhole(first, false)
      const completion = firstWay.hold(requests.completion)
      const publishing = uploadsOf(first).publish(upload)
      await completion.reached
      await uploadsOf(third).sweep(new Date(Date.now() + hourMs / 1.5))
      completion.release()
      expect(await inTime(publishing, 'publish')).to.deep.include({ size: whole.length })
      await expectPublished(third, minio(), bucket)
    })).timeout(60_000)

  for (const [staleUploadAfterMs, laterMs] of [
    [undefined, 1.1 * hourMs],
    [hourMs / 4, hourMs / 3],
  ] as const) {
    const age = staleUploadAfterMs === undefined ? 'an hour' : 'a shorter staleUploadAfterMs'
    it(`drops, and does not publish again, what may have been published more than ${age} ago`, () =>
      withProcesses(
        async (processes) => {
          const upload = await leaveUnnoted(processes)
          const { third } = processes
          const { now } = Date
          Date.now = () => now() + laterMs
          const publishing = failureOf(uploadsOf(third).publish(upload), 'publish')
          const failure = await publishing.finally(() => {
            Date.now = now
          })
          expect(failure).to.have.property('code', 'upload-not-found')
          expect(await uploadsOf(third).state(upload)).to.equal(undefined)
          expect(await read(third)).to.equal(undefined)
        },
        staleUploadAfterMs === undefined ? {} : { staleUploadAfterMs },
      )).timeout(60_000)
  }

  it('answers a conflict where the tail is replaced while it is read', () =>
    withProcesses(async ({ first, firstWay, third }) => {
      const upload = await begin(first)
      await append(first, upload, 0, 1000)
      const read = firstWay.hold(requests.tail)
      const losing = append(first, upload, 1000, whole.length)
      losing.catch(() => {})
      await read.reached
      expect(await append(third, upload, 1000, 2000)).to.equal(2000)
      read.release()
      expect(await failureOf(losing, 'append')).to.have.property('code', 'upload-conflict')
      expect(await uploadsOf(third).state(upload)).to.deep.include({ offset: 2000 })
    })).timeout(60_000)

  it('publishes where the other one has removed the parts that it copies', () =>
    withProcesses(async ({ first, firstWay, third, bucket }) => {
      const upload = await beginWhole(first, false)
      const copy = firstWay.hold(requests.copy)
      const losing = uploadsOf(first).publish(upload)
      losing.catch(() => {})
      await copy.reached
      const info = await uploadsOf(third).publish(upload)
      copy.release()
      expect(await inTime(losing, 'publish')).to.deep.equal(info)
      await expectPublished(third, minio(), bucket)
    })).timeout(60_000)

  it('answers a conflict where content is read back whose parts the other one has removed', () =>
    withProcesses(async ({ first, firstWay, third }) => {
      const upload = await beginWhole(first, false)
      const part = firstWay.hold(requests.tail)
      const reading = drain(uploadsOf(first).content(upload))
      reading.catch(() => {})
      await part.reached
      await uploadsOf(third).publish(upload)
      part.release()
      expect(await failureOf(reading, 'content')).to.have.property('code', 'upload-conflict')
    })).timeout(60_000)

  it('keeps an acknowledged offset though the first request of the record comes late', () =>
    withProcesses(async ({ first, firstWay }) => {
      const carryOut = firstWay.delay(requests.record)
      const upload = await begin(first)
      expect(await append(first, upload, 0, 20)).to.equal(20)
      expect(await carryOut()).to.equal(412)
      expect(await uploadsOf(first).state(upload)).to.deep.include({ offset: 20 })
      await uploadsOf(first).sweep(new Date(Date.now() + 100 * hourMs))
    })).timeout(60_000)
})
