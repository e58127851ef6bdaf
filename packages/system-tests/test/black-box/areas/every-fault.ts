import { forEveryFault, type Fault, type FaultStep } from '@holdfast/contract/faults'
import { FileServiceError } from '@holdfast/core'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { expectError, expectOk, type Answer } from '../support/answer.ts'
import { formData } from '../support/customer-client.ts'
import { faultyRequests, newer, older, type FaultyRequest } from '../support/faulty-requests.ts'
import { expectKept, isDone, startFaultyService } from '../support/faulty-service.ts'
import type { RunningService, StartService } from '../support/running-service.ts'

type Refusal = readonly [status: number, message: string]

/** What a store fails with, and how the service reports it. The service translates all errors in one place. */
const refusals: readonly (readonly [makeError: () => Error, ...Refusal])[] = [
  [() => new FileServiceError('insufficient-storage', 'ENOSPC'), 507, 'Insufficient storage'],
  [() => new FileServiceError('store-unavailable', 'ECONNREFUSED'), 503, 'Storage unavailable'],
  [() => new Error('the secret cause'), 500, 'An unexpected error occurred'],
]

/** Each request under each fault of the store; the errors take turns. `count` is called with how many faults there were. */
export function everyFault(start: StartService, count: (faults: number) => void): void {
  describe('every fault', () => {
    for (const [title, request] of Object.entries(faultyRequests)) {
      it(`under ${title} is reported, or cuts the answer, and the service goes on`, async () => {
        await using faulty = await startFaultyService(start)
        const { service, faults } = faulty
        const struck = await forEveryFault(async (fault) => {
          const [error, ...refusal] = errorFor(fault)
          const client = await faulty.customer(fault.nth, request.isCounted === true)
          faults.plan({ ...fault, error })
          const answer = await request.send(client).catch(toCut)
          const [step] = faults.struck()
          if (step) await until('the fault is logged', () => isLogged(service, error))
          const begun = faults.steps().some((each) => each !== step && isBeginning(each))
          faults.plan()
          if (step) expectTold(answer, request, step, begun, refusal)
          else expectWhole(answer, request)
          const files = step === undefined || isDone(step) ? request.leaves : { a: older }
          await expectKept(client, files)
          await faulty.expectSound(client)
        })
        count(struck.length)
      })
    }

    it('under POST /upload/batch is reported in the line of the file that it hit, and the others are stored', async () => {
      await using faulty = await startFaultyService(start)
      const struck = await forEveryFault(async (fault) => {
        const [error, status] = errorFor(fault)
        const client = await faulty.customer(fault.nth, false)
        const body = formData('a', newer)
        body.append('file', new Blob([newer]), 'b')
        faulty.faults.plan({ ...fault, error })
        const { bytes } = await client.send('POST', '/upload/batch', { body })
        const [step] = faulty.faults.struck()
        faulty.faults.plan()
        const statuses = statusesIn(bytes)
        expect(statuses.filter((each) => each === status)).to.have.length(step ? 1 : 0)
        expect(statuses.filter((each) => each === 200)).to.have.length(step ? 1 : 2)
        const isStored = (index: number) =>
          statuses[index] === 200 || (step !== undefined && isDone(step))
        const b = isStored(1) ? { b: newer } : {}
        await expectKept(client, { a: isStored(0) ? newer : older, ...b })
        await faulty.expectSound(client)
      })
      count(struck.length)
    })

    it('under POST /delete/batch is reported in the line of the file that it hit, and the others are deleted', async () => {
      await using faulty = await startFaultyService(start)
      const struck = await forEveryFault(async (fault) => {
        const [error, status] = errorFor(fault)
        const client = await faulty.customer(fault.nth, true)
        expectOk(await client.put('b', newer))
        faulty.faults.plan({ ...fault, error })
        const { bytes } = await client.send('POST', '/delete/batch', { body: '["a","b"]' })
        const [step] = faulty.faults.struck()
        faulty.faults.plan()
        const statuses = statusesIn(bytes)
        expect(statuses.filter((each) => each === status)).to.have.length(step ? 1 : 0)
        expect(statuses.filter((each) => each === 200)).to.have.length(step ? 1 : 2)
        const isKept = (index: number) => statuses[index] !== 200 && !(step && isDone(step))
        await expectKept(client, {
          ...(isKept(0) && { a: older }),
          ...(isKept(1) && { b: newer }),
        })
        await faulty.expectSound(client)
      })
      count(struck.length)
    })
  })
}

/** Of the lines of a batch. */
function statusesIn(bytes: Buffer): readonly number[] {
  const lines = bytes.toString().trimEnd().split('\n')
  return lines.map((line) => (JSON.parse(line) as { statusCode: number }).statusCode)
}

function errorFor({ nth }: Fault): readonly [error: Error, ...Refusal] {
  const [makeError, ...refusal] = refusals[nth % refusals.length]!
  return [makeError(), ...refusal]
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

function isLogged(service: RunningService, error: Error): boolean {
  return service.log.some(({ fields }) => fields['err'] === error)
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
