import { expect } from 'chai'
import { FileServiceError, type BlobStore } from '@holdfast/core'
import { expectError, expectOk, type Answer } from '../support/answer.ts'
import { expectNoLitter } from '../support/expect-no-litter.ts'
import { failingStore } from '../support/failing-store.ts'
import type { RunningService, StartService } from '../support/running-service.ts'
import { until } from '../support/until.ts'

const full = new FileServiceError('insufficient-storage', 'ENOSPC on /secret/path')
const unreachable = new FileServiceError('store-unavailable', 'connect ECONNREFUSED 10.0.0.7')
const fault = new Error('the secret cause of the fault')

/** Every request that needs the store. */
const requests: Readonly<Record<string, (service: RunningService) => Promise<Answer>>> = {
  'POST /upload': ({ anna }) => anna.upload('a', 'new'),
  'PUT /upload': ({ anna }) => anna.put('a', 'new'),
  'GET /serve': ({ anna }) => anna.serve('a'),
  'DELETE /delete': ({ anna }) => anna.remove('a'),
  'GET /list': ({ anna }) => anna.list(),
}

/** Starts a service whose store fails from `break` on, and works again from `mend` on. */
async function startBreakable(start: StartService) {
  let failure: Error | undefined
  const service = await start({ wrap: (store) => failingStore(store, () => failure) })
  expectOk(await service.anna.upload('a', 'old'))
  return {
    service,
    break: (error: Error) => void (failure = error),
    mend: () => void (failure = undefined),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}

/** The log has the cause, under the id that the client got. */
function expectLogged(service: RunningService, answer: Answer, cause: Error): void {
  const requestId = answer.headers.get('x-request-id')
  expect(requestId).to.match(/./)
  const lines = service.log.filter(({ fields }) => fields['requestId'] === requestId)
  const error = lines.find(({ level }) => level === 'error')
  expect(error?.fields['err']).to.equal(cause)
}

/** `store`, whose puts take `taken` bytes at least before they fail. */
function failingAfter(taken: number, error: Error) {
  return (store: BlobStore): BlobStore => ({
    ...store,
    put: (key, content, options) => {
      async function* cutOff() {
        let size = 0
        for await (const chunk of content) {
          yield chunk
          size += chunk.length
          if (size >= taken) throw error
        }
        throw error
      }
      return store.put(key, cutOff(), options)
    },
  })
}

export function storeFaults(start: StartService): void {
  for (const [title, error, status, message] of [
    ['store full', full, 507, 'Insufficient storage'],
    ['store unreachable', unreachable, 503, 'Storage unavailable'],
    ['server-side fault', fault, 500, 'An unexpected error occurred'],
  ] as const) {
    describe(title, () => {
      for (const [name, send] of Object.entries(requests)) {
        it(`answers ${name} with ${status} ${message}, logs the cause, and goes on`, async () => {
          await using breakable = await startBreakable(start)
          const { service } = breakable
          breakable.break(error)
          const answer = await send(service)
          expectError(answer, status, message)
          if (status === 503) expect(answer.headers.get('retry-after')).to.match(/^[1-9]\d*$/)
          expectLogged(service, answer, error)
          breakable.mend()
          expect(await service.anna.text('a')).to.equal('old')
          expectOk(await service.anna.upload('a', 'new'))
        })
      }

      it('in the middle of an upload leaves nothing behind', async () => {
        for (const taken of [1, 100_000, Infinity]) {
          await using service = await start({ wrap: failingAfter(taken, error) })
          const content = 'x'.repeat(300_000)
          expectError(await service.anna.upload('a', content), status, message)
          expectError(await service.anna.put('a', content), status, message)
          expect(await service.anna.names()).to.deep.equal([])
          await expectNoLitter(service)
        }
      })
    })
  }

  describe('a fault when the answer has begun', () => {
    it('cuts a download off, so that a part does not pass for the whole', async () => {
      const breaking = (store: BlobStore): BlobStore => ({
        ...store,
        async open(key, options) {
          const file = await store.open(key, options)
          return file && { ...file, content: beginning(file.content) }
        },
      })
      async function* beginning(content: AsyncIterable<Uint8Array>) {
        for await (const chunk of content) {
          yield chunk.subarray(0, 1)
          throw fault
        }
      }
      await using service = await start({ wrap: breaking })
      expectOk(await service.anna.upload('a', 'hello'))
      const failure = await service.anna.serve('a').catch((error: unknown) => error)
      expect(failure).to.be.instanceOf(TypeError)
      await until(() => service.log.some(({ fields }) => fields['err'] === fault))
      expect((await service.anna.send('GET', '/ping')).status).to.equal(200)
    })

    it('cuts a list off, so that a part does not pass for the whole', async () => {
      const breaking = (store: BlobStore): BlobStore => ({
        ...store,
        async *list() {
          for (let index = 0; index < 10_000; index++) yield `name ${index}`
          throw fault
        },
      })
      await using service = await start({ wrap: breaking })
      const failure = await service.anna.list().catch((error: unknown) => error)
      expect(failure).to.be.instanceOf(TypeError)
      await until(() => service.log.some(({ fields }) => fields['err'] === fault))
    })
  })
}
