import { createFaults, injectFaults, type Fault } from '@holdfast/contract/faults'
import { expect } from 'chai'
import { FileServiceError } from '@holdfast/core'
import { expectError, expectOk, type Answer } from '../support/answer.ts'
import { expectNoLitter } from '../support/expect-no-litter.ts'
import { older } from '../support/faulty-requests.ts'
import type { RunningService, StartService } from '../support/running-service.ts'

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
  'GET /list?details=1': ({ anna }) => anna.list({ details: '1' }),
}

/** In the middle of an upload's content: behind the first chunk and behind the last. */
const inTheMiddle: readonly Fault[] = [
  { nth: 2, only: { method: 'put', moment: 'item' } },
  { nth: 1, only: { method: 'put', moment: 'end' } },
]

/** Starts a service whose store fails as planned. */
async function startBreakable(start: StartService) {
  const faults = createFaults()
  const service = await start({ wrap: (store) => injectFaults(store, faults) })
  return { service, faults, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() }
}

/** The log has the cause, under the id that the client got. */
function expectLogged(service: RunningService, answer: Answer, cause: Error): void {
  const requestId = answer.headers.get('x-request-id')
  expect(requestId).to.match(/./)
  const lines = service.log.filter(({ fields }) => fields['requestId'] === requestId)
  const error = lines.find(({ level }) => level === 'error')
  expect(error?.fields['err']).to.equal(cause)
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
          const { service, faults } = breakable
          expectOk(await service.anna.upload('a', 'old'))
          faults.plan({ nth: 1, lasting: true, error })
          const answer = await send(service)
          expectError(answer, status, message)
          if (status === 503) expect(answer.headers.get('retry-after')).to.match(/^[1-9]\d*$/)
          expectLogged(service, answer, error)
          faults.plan()
          expect(await service.anna.text('a')).to.equal('old')
          expectOk(await service.anna.upload('a', 'new'))
        })
      }

      it('in the middle of an upload leaves nothing behind', async () => {
        await using breakable = await startBreakable(start)
        const { service, faults } = breakable
        for (const point of inTheMiddle) {
          for (const method of ['upload', 'put'] as const) {
            faults.plan({ ...point, error })
            expectError(await service.anna[method]('a', older), status, message)
            expect(faults.struck()).to.have.length(1)
            faults.plan()
            expect(await service.anna.names()).to.deep.equal([])
            await expectNoLitter(service)
          }
        }
      })
    })
  }
}
