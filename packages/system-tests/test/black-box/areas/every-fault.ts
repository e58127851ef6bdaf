import { forEveryFault, type FaultStep } from '@holdfast/contract/faults'
import { FileServiceError } from '@holdfast/core'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { expectError, type Answer } from '../support/answer.ts'
import { formData } from '../support/customer-client.ts'
import { faultyRequests, newer, older, type FaultyRequest } from '../support/faulty-requests.ts'
import { expectKept, isDone, startFaultyService } from '../support/faulty-service.ts'
import type { RunningService, StartService } from '../support/running-service.ts'

/** Errors of a store, and how each is told. */
export const everyError = [
  [new FileServiceError('insufficient-storage', 'ENOSPC'), 507, 'Insufficient storage'],
  [new FileServiceError('store-unavailable', 'ECONNREFUSED'), 503, 'Storage unavailable'],
  [new Error('the secret cause'), 500, 'An unexpected error occurred'],
] as const

type Refusal = readonly [status: number, message: string]

/** Each request under each fault of the store, of these errors. `count` is told how many there were. */
export function everyFault(
  start: StartService,
  errors: readonly (typeof everyError)[number][],
  count: (faults: number) => void,
): void {
  for (const [error, ...refusal] of errors) {
    describe(`every fault that is ${refusal.join(' ')}`, () => {
      for (const [title, request] of Object.entries(faultyRequests)) {
        it(`under ${title} is reported, or cuts the answer, and the service goes on`, async () => {
          await using faulty = await startFaultyService(start)
          const { service, faults } = faulty
          const struck = await forEveryFault(
            async (fault) => {
              const client = await faulty.customer(fault.nth, request.isCounted === true)
              faults.plan(fault)
              const answer = await request.send(client).catch(toCut)
              const [step] = faults.struck()
              if (step)
                await until('the fault is logged', () => timesLogged(service, error) >= fault.nth)
              const begun = faults.steps().some((each) => each !== step && isBeginning(each))
              faults.plan()
              if (step) expectTold(answer, request, step, begun, refusal)
              else expectWhole(answer, request)
              const files = step === undefined || isDone(step) ? request.leaves : { a: older }
              await expectKept(client, files)
              await faulty.expectSound(client)
            },
            { error },
          )
          count(struck.length)
        })
      }

      it('under POST /upload/batch is reported in the line of the file that it hit, and the others are stored', async () => {
        await using faulty = await startFaultyService(start)
        const struck = await forEveryFault(
          async (fault) => {
            const client = await faulty.customer(fault.nth, false)
            const body = formData('a', newer)
            body.append('file', new Blob([newer]), 'b')
            faulty.faults.plan(fault)
            const { bytes } = await client.send('POST', '/upload/batch', { body })
            const [step] = faulty.faults.struck()
            faulty.faults.plan()
            const lines = bytes.toString().trimEnd().split('\n')
            const statuses = lines.map(
              (line) => (JSON.parse(line) as { statusCode: number }).statusCode,
            )
            expect(statuses.filter((status) => status === refusal[0])).to.have.length(step ? 1 : 0)
            expect(statuses.filter((status) => status === 200)).to.have.length(step ? 1 : 2)
            const isStored = (index: number) =>
              statuses[index] === 200 || (step !== undefined && isDone(step))
            const b = isStored(1) ? { b: newer } : {}
            await expectKept(client, { a: isStored(0) ? newer : older, ...b })
            await faulty.expectSound(client)
          },
          { error },
        )
        count(struck.length)
      })
    })
  }
}

/** What fetch rejects with when there is no answer, or one that breaks off. */
function toCut(error: unknown): TypeError {
  if (error instanceof TypeError) return error
  throw error
}

/** Behind the first chunk of a download an answer has begun. */
function isBeginning({ method, moment }: FaultStep): boolean {
  return method === 'open' && moment === 'item'
}

function timesLogged(service: RunningService, error: Error): number {
  return service.log.filter(({ fields }) => fields['err'] === error).length
}

function expectWhole(answer: Answer | TypeError, request: FaultyRequest): void {
  if (answer instanceof TypeError) throw answer
  request.expectDone(answer)
}

/** The fault is told in the form of errors; a download that had begun breaks off, or lacks nothing. */
function expectTold(
  answer: Answer | TypeError,
  request: FaultyRequest,
  step: FaultStep,
  begun: boolean,
  [status, message]: Refusal,
): void {
  if (step.method === 'open' && begun && (answer instanceof TypeError || answer.status < 400)) {
    if (!(answer instanceof TypeError)) request.expectDone(answer)
    return
  }
  if (answer instanceof TypeError) throw answer
  expect(answer.status).to.equal(status)
  if (!request.isHead) expectError(answer, status, message)
  if (status === 503) expect(answer.headers.get('retry-after')).to.match(/^[1-9]\d*$/)
}
