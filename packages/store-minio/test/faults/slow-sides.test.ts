import { setTimeout as delay } from 'node:timers/promises'
import { describeWithMinio } from '@holdfast/testing/minio'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { bytesOf, contentOf, drain, expectOneOf, key, MiB } from './blobs.ts'
import { eachAtOnce } from './each-at-once.ts'
import { expectUnavailable, withFaultyStore } from './faulty-store.ts'

const large = bytesOf(20 * MiB, 3)
const idleTimeoutMs = 2500
/** How long somebody other than the server takes: several times as long as a server may. */
const pauseMs = 3 * idleTimeoutMs

const getObject = /^GET [^?]*(?: HTTP|\?x-id=GetObject)/
const silence = { kind: 'stall', direction: 'answer', position: 'first byte' } as const

describeWithMinio('openMinioBlobStore with somebody slow', function (minio) {
  describe('open', () => {
    eachAtOnce(
      [
        { what: 'before the first byte of a large blob', bytes: large, pauseAt: 0 },
        { what: 'in the middle of a large blob', bytes: large, pauseAt: 10 * MiB },
        { what: 'before the last byte of a large blob', bytes: large, pauseAt: large.length - 1 },
        { what: 'behind the last byte of a large blob', bytes: large, pauseAt: large.length },
        { what: 'before the only byte of a blob', bytes: bytesOf(1), pauseAt: 0 },
        { what: 'before the end of an empty blob', bytes: bytesOf(0), pauseAt: 0 },
      ],
      ({ what }) => `reads on after a pause ${what}`,
      ({ bytes, pauseAt }) =>
        withFaultyStore(minio(), { idleTimeoutMs }, async ({ store, direct, proxy }) => {
          await direct.put(key, contentOf(bytes))
          const blob = await store.open(key)
          // From here on any further request would fail.
          proxy.inject({ kind: 'reset', direction: 'request', position: 'first byte' })
          if (pauseAt === 0) await delay(pauseMs)
          let [offset, hasPaused] = [0, pauseAt === 0]
          for await (const chunk of blob!.content) {
            expect(bytes.subarray(offset, (offset += chunk.length)).equals(chunk)).to.equal(true)
            if (hasPaused || offset < pauseAt) continue
            hasPaused = true
            await delay(pauseMs)
          }
          expect(offset).to.equal(bytes.length)
        }),
    )
  })

  describe('put', () => {
    eachAtOnce(
      [
        { what: 'in the middle of a part', pauseAt: 10 * MiB },
        { what: 'between two parts', pauseAt: 8 * MiB },
        { what: 'before the first byte', pauseAt: 0 },
      ],
      ({ what }) => `stores what comes after a pause ${what}`,
      ({ pauseAt }) =>
        withFaultyStore(minio(), { idleTimeoutMs }, async ({ store, direct }) => {
          const content = contentOf(large, (offset) => {
            if (offset === pauseAt) return delay(pauseMs)
          })
          await store.put(key, content)
          await expectOneOf(direct, large)
        }),
    )
  })

  it('gives up a server that stalls during a part while the content is stalled, too', () =>
    withFaultyStore(minio(), { idleTimeoutMs }, async ({ store, direct, proxy }) => {
      proxy.inject({ kind: 'stall', direction: 'request', position: 'body', request: /UploadPart/ })
      const never = new Promise<void>(() => {})
      const content = contentOf(large, (offset) => {
        if (offset === 16 * MiB) return never
      })
      await expectUnavailable(store.put(key, content), 'put')
      expect(proxy.strikes()).to.be.at.least(1)
      proxy.heal()
      expect(await direct.stat(key)).to.equal(undefined)
    }))

  it('lets go of a server that is silent when the reader leaves', () =>
    withFaultyStore(minio(), {}, async ({ store, direct, proxy }) => {
      await direct.put(key, contentOf(large))
      proxy.inject({ kind: 'stall', direction: 'answer', position: 'body', request: getObject })
      const blob = await store.open(key)
      const reading = drain(blob!.content)
      await until('the server is silent', () => proxy.strikes() === 1)
      await blob!.close()
      await expectUnavailable(reading, 'reading')
    }))

  it('lets go of the rest that it asks for when the reader leaves meanwhile', () =>
    withFaultyStore(minio(), {}, async ({ store, direct, proxy }) => {
      await direct.put(key, contentOf(large))
      const cut = { kind: 'cut', direction: 'answer', position: 'body' } as const
      // The request for the rest waits for its answer when the reader leaves.
      proxy.inject({ ...cut, request: getObject, times: 1 }, { ...silence, request: getObject })
      const blob = await store.open(key)
      const reading = drain(blob!.content)
      await until('the rest is asked for', () => proxy.strikes() === 2)
      await blob!.close()
      await expectUnavailable(reading, 'reading')
    }))

  it('fails what is under way when it is closed', () =>
    withFaultyStore(minio(), {}, async ({ store, proxy }) => {
      proxy.inject({ ...silence, request: /^HEAD/ })
      const asking = store.stat(key)
      await until('the server is silent', () => proxy.strikes() === 1)
      await store.close()
      await expectUnavailable(asking, 'stat')
      expect(proxy.strikes()).to.equal(1)
    }))
})
