import { describeWithMinio } from '@holdfast/testing/minio'
import { expect } from 'chai'
import { createBufferBudget } from '../../src/write/parts.ts'
import { putObject } from '../../src/write/put-object.ts'
import { createRemovals } from '../../src/write/removals.ts'
import { createStoreClient } from '../../src/http/s3-client.ts'
import { bytesOf, contentOf, expectOneOf, key, MiB } from './blobs.ts'
import { startFaultProxy, type FaultKind } from './fault-proxy.ts'
import { expectSwept, expectUnavailable, withFaultyStore } from './faulty-store.ts'

const large = bytesOf(20 * MiB, 3)
const earlier = bytesOf(1000, 4)

describeWithMinio(
  'openMinioBlobStore, whose server is lost in the middle of an upload',
  (minio) => {
    for (const kind of ['cut', 'reset', 'stall'] as const) {
      it(`leaves what it cannot remove to the next sweep: ${kind}`, () =>
        withFaultyStore(minio(), { idleTimeoutMs: 400 }, async (faulty) => {
          const { store, direct, proxy, bucket } = faulty
          await direct.put(key, contentOf(earlier))
          const content = contentOf(large, (offset) => {
            // The first part is on its way, maybe there; from here on nothing comes through, not even the abort.
            if (offset === 16 * MiB)
              proxy.inject({ kind, direction: 'request', position: 'first byte' })
          })
          await expectUnavailable(store.put(key, content), 'put')
          expect(content.isClosed()).to.equal(true)
          expect(await minio().unfinishedUploads(bucket)).to.include('alice/report.pdf')
          proxy.heal()
          await expectOneOf(direct, earlier)
          await expectSwept(faulty)
          await store.put(key, contentOf(large))
          await expectOneOf(direct, large)
        }))
    }
  },
)

describeWithMinio('putObject', (minio) => {
  for (const [what, request, size] of [
    ['of one request', /x-id=PutObject/, 6 * MiB],
    ['that cannot begin', /^POST .*\?uploads/, 20 * MiB],
    ['of several parts', /x-id=UploadPart/, 20 * MiB],
    ['that cannot be completed', /^POST .*\?uploadId/, 20 * MiB],
  ] as const) {
    it(`gives back its memory after a failure ${what}`, async () => {
      const limit = 32 * MiB
      const budget = createBufferBudget(limit)
      await putThroughFault(budget, request, size, 'reset')
      expect(budget.take(limit, false)?.length, 'all of it is free').to.equal(limit)
    })
  }

  async function putThroughFault(
    budget: ReturnType<typeof createBufferBudget>,
    request: RegExp,
    size: number,
    kind: FaultKind,
  ): Promise<void> {
    const { accessKey, secretKey, region, endpoint } = minio()
    const proxy = await startFaultProxy(endpoint)
    const client = createStoreClient({
      ...{ endpoint: proxy.endpoint, accessKey, secretKey, region },
      ...{ connectTimeoutMs: 5000, idleTimeoutMs: 5000 },
    })
    const write = {
      ...{
        s3: client.s3,
        changing: client.changing,
        removals: createRemovals(),
        bucket: await minio().createBucket(),
        key: 'alice/report.pdf',
        mark: 'm',
      },
      ...{ createOnly: false, budget, underWay: new Set<string>(), log: { warn: () => {} } },
    }
    try {
      proxy.inject({ kind, direction: 'request', position: 'head', request })
      await expectUnavailable(putObject(write, contentOf(bytesOf(size)), undefined), 'putObject')
      expect(write.underWay.size, 'uploads under way').to.equal(0)
    } finally {
      client.close()
      await proxy.close()
    }
  }
})
