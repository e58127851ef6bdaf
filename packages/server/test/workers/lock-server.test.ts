import type { Turn } from '@holdfast/core'
import { expect } from 'chai'
import { createRpcChannel, type Transport } from '../../src/workers/rpc-channel.ts'
import { createTurnClient } from '../../src/workers/worker-services.ts'
import {
  createSharedTurns,
  createTurnServer,
  type TurnHandlers,
} from '../../src/workers/lock-server.ts'

/** Workers that take turns, and timers that end when a test says so. */
function openTurns() {
  const shared = createSharedTurns()
  const timers = new Set<() => void>()
  const start = (_ms: number, run: () => void) => {
    timers.add(run)
    return () => void timers.delete(run)
  }
  const startWorker = () => {
    const takers: ((message: unknown) => void)[] = []
    const transport = (own: number): Transport => ({
      send: (message) => {
        const copy = JSON.parse(JSON.stringify(message)) as unknown
        queueMicrotask(() => takers[1 - own]?.(copy))
      },
      onMessage: (take) => void (takers[own] = take),
    })
    const server = createTurnServer(shared, start)
    createRpcChannel(transport(0), server.answers)
    const takeTurn = createTurnClient(createRpcChannel<TurnHandlers>(transport(1), {}))
    return { takeTurn, die: () => server.end() }
  }
  return {
    startWorker,
    timers,
    expire: () => [...timers].forEach((run) => timers.delete(run) && run()),
  }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

/** Notes in `order` that `turn` has come. */
function noting(order: string[], who: string, turn: Promise<Turn>) {
  return turn.then(({ end }) => {
    order.push(who)
    return end
  })
}

describe('createTurnServer', () => {
  it('gives the turns of one key one after the other, whichever worker asks', async () => {
    const { startWorker, timers } = openTurns()
    const [first, second] = [startWorker(), startWorker()]
    const order: string[] = []
    const endFirst = await noting(order, 'first', first.takeTurn('alice'))
    const waiting = noting(order, 'second', second.takeTurn('alice'))
    const endOther = await noting(order, 'other', second.takeTurn('bob'))
    await settle()
    expect(order).to.deep.equal(['first', 'other'])
    endFirst()
    const endSecond = await waiting
    endSecond()
    endSecond()
    endOther()
    await settle()
    expect(timers.size).to.equal(0)
  })

  it('passes on the turn of a worker that does not end it, when its lease is over, and says so until it ends', async () => {
    const { startWorker, expire } = openTurns()
    const [first, second] = [startWorker(), startWorker()]
    const { end: endFirst } = await first.takeTurn('alice')
    const waiting = second.takeTurn('alice')
    await settle()
    expire()
    const order: string[] = []
    const passedOn = await waiting
    expect(passedOn.unended).to.equal(1)
    const third = noting(order, 'third', first.takeTurn('alice'))
    endFirst()
    await settle()
    expect(order).to.deep.equal([])
    expect(passedOn.isNext).to.equal(false)
    passedOn.end()
    const endThird = await third
    endThird()
    expect((await second.takeTurn('alice')).unended).to.equal(0)
  })

  it('ends the turns of a worker that has died some time after it', async () => {
    const { startWorker, expire } = openTurns()
    const [first, second] = [startWorker(), startWorker()]
    await first.takeTurn('alice')
    const order: string[] = []
    const waiting = noting(order, 'second', second.takeTurn('alice'))
    first.die()
    await settle()
    expect(order).to.deep.equal([])
    expire()
    await waiting
  })

  it('forgets what it has passed on some time after the worker has died', async () => {
    const { startWorker, expire } = openTurns()
    const [first, second] = [startWorker(), startWorker()]
    await first.takeTurn('alice')
    expire()
    first.die()
    const earlier = await second.takeTurn('alice')
    expect(earlier.unended).to.equal(1)
    earlier.end()
    expire()
    expect((await second.takeTurn('alice')).unended).to.equal(0)
  })

  it('gives no turn to a worker that has died while it waited', async () => {
    const { startWorker } = openTurns()
    const [first, second, third] = [startWorker(), startWorker(), startWorker()]
    const { end } = await first.takeTurn('alice')
    void second.takeTurn('alice')
    const waiting = third.takeTurn('alice')
    await settle()
    second.die()
    end()
    await waiting
  })

  it('says whether another worker has had a turn of the key since', async () => {
    const { startWorker } = openTurns()
    const [one, two] = [startWorker(), startWorker()]
    const take = async ({ takeTurn }: typeof one, key: string) => {
      const turn = await takeTurn(key)
      turn.end()
      await settle()
      return turn.isNext
    }
    expect(await take(one, 'a')).to.equal(false)
    expect(await take(one, 'a')).to.equal(true)
    expect(await take(two, 'b')).to.equal(false)
    expect(await take(one, 'a')).to.equal(true)
    expect(await take(two, 'a')).to.equal(false)
    expect(await take(one, 'a')).to.equal(false)
  })
})
