import { forEveryFault, type Fault } from '@holdfast/contract/faults'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import type { Answer } from '../support/answer.ts'
import type { CustomerClient } from '../support/customer-client.ts'
import { faultyRequests, newer, older, type FaultyRequest } from '../support/faulty-requests.ts'
import { expectKept, startFaultyService, type FaultyService } from '../support/faulty-service.ts'
import { requestHead } from '../support/request-head.ts'
import type { StartService } from '../support/running-service.ts'

/** Each request while the store takes its time, at each step. `count` is told how many there were. */
export function slowStore(start: StartService, count: (delays: number) => void): void {
  describe('a store that takes its time', () => {
    for (const [title, request] of Object.entries(faultyRequests)) {
      it(`delays ${title}, and is no error, whether the client waits or leaves`, async () => {
        await using faulty = await startFaultyService(start)
        const struck = await forEveryFault(async (fault) => {
          const isCounted = request.isCounted === true
          const patient = await faulty.customer(2 * fault.nth - 1, isCounted)
          request.expectDone(await sendHeld(faulty, request, patient, fault))
          await expectKept(patient, request.leaves)
          await faulty.expectSound(patient)

          const leaving = await faulty.customer(2 * fault.nth, isCounted)
          await leaveHeld(faulty, request, leaving, fault)
          const isAsBefore =
            (await leaving.names()).length === 1 && (await leaving.text('a')) === older
          await expectKept(leaving, isAsBefore ? { a: older } : request.leaves)
          await faulty.expectSound(leaving)
        })
        expect(faulty.service.log.filter(({ level }) => level === 'error')).to.deep.equal([])
        count(struck.length)
      })
    }

    for (const only of [
      { method: 'usage', moment: 'call' },
      { method: 'stat', moment: 'answer' },
      { method: 'put', moment: 'call' },
      { method: 'put', moment: 'item' },
    ] as const) {
      it(`at ${only.method}, ${only.moment}, publishes nothing of a client that leaves in the middle`, async () => {
        await using faulty = await startFaultyService(start)
        const { faults, service } = faulty
        const client = await faulty.customer(1, false)
        const gate = Promise.withResolvers<undefined>()
        faults.plan({ nth: 1, only, hold: gate.promise })
        const headers = { ...client.headers, 'Content-Length': newer.length }
        using connection = await service.connect()
        await connection.send(requestHead('PUT', '/upload/a', headers), newer.slice(1))
        await until('the fault strikes', () => faults.struck().length > 0)
        connection.reset()
        gate.resolve(undefined)
        await until('no call of the store is under way', () => faults.underWay() === 0)
        faults.plan()
        await expectKept(client, { a: older })
        await faulty.expectSound(client)
        count(1)
      })
    }

    for (const [path, only] of [
      ['/serve/a', { method: 'open', moment: 'item' }],
      ['/serve/a', { method: 'open', moment: 'end' }],
      ['/list', { method: 'list', moment: 'end' }],
    ] as const) {
      it(`stalled at ${only.method}, ${only.moment}, is let go at once when the client of GET ${path} leaves`, async () => {
        await using faulty = await startFaultyService(start)
        const { faults, service } = faulty
        const client = await faulty.customer(1, false)
        faults.plan({ nth: 1, only, hold: new Promise(() => {}) })
        using connection = await service.connect()
        await connection.send(requestHead('GET', path, client.headers))
        await until('the fault strikes', () => faults.struck().length > 0)
        connection.reset()
        await until('no call of the store is under way', () => faults.underWay() === 0)
        faults.plan()
        await faulty.expectSound(client)
        count(1)
      })
    }
  })
}

/** Sends a request that is held at its fault for a while. */
async function sendHeld(
  { faults }: FaultyService,
  request: FaultyRequest,
  client: CustomerClient,
  fault: Fault,
): Promise<Answer> {
  const gate = Promise.withResolvers<undefined>()
  faults.plan({ ...fault, hold: gate.promise })
  const answer = request.send(client)
  await until(
    'the fault strikes, or the request ends',
    async () => faults.struck().length > 0 || (await hasSettled(answer)),
  )
  gate.resolve(undefined)
  const whole = await answer
  await until('no call of the store is under way', () => faults.underWay() === 0)
  faults.plan()
  return whole
}

/** Sends a request, and leaves while it is held at its fault. */
async function leaveHeld(
  { faults }: FaultyService,
  request: FaultyRequest,
  client: CustomerClient,
  fault: Fault,
): Promise<void> {
  const gate = Promise.withResolvers<undefined>()
  const leaving = new AbortController()
  faults.plan({ ...fault, hold: gate.promise })
  const settled = request.send(client, leaving.signal).then(
    () => {},
    () => {},
  )
  await until(
    'the fault strikes, or the request ends',
    async () => faults.struck().length > 0 || (await hasSettled(settled)),
  )
  leaving.abort()
  await settled
  gate.resolve(undefined)
  await until('no call of the store is under way', () => faults.underWay() === 0)
  faults.plan()
}

function hasSettled(settled: Promise<unknown>): Promise<boolean> {
  const notYet = new Promise<false>((resolve) => setImmediate(() => resolve(false)))
  return Promise.race([settled.then(() => true), notYet])
}
