import { expect } from 'chai'
import { rejection } from '@holdfast/testing'
import {
  createHoldClient,
  createHoldServers,
  type HoldingHandlers,
} from '../../src/workers/locks.ts'
import { createRpcChannel, type RpcChannel, type Transport } from '../../src/workers/rpc-channel.ts'

const settle = () => new Promise((resolve) => setTimeout(resolve, 5))

/** Workers of one primary, whose stores note what is held; `busy` keys are held only when they are no longer busy. */
function openWorkers() {
  const channels = new Set<RpcChannel<HoldingHandlers>>()
  const timers = new Set<() => void>()
  const start = (_ms: number, run: () => void) => {
    timers.add(run)
    return () => void timers.delete(run)
  }
  const createServer = createHoldServers(() => channels, start)
  const startWorker = ({ isSlow = false } = {}) => {
    const takers: ((message: unknown) => void)[] = []
    const transport = (own: number): Transport => ({
      send: (message) => {
        const copy = JSON.parse(JSON.stringify(message)) as unknown
        queueMicrotask(() => takers[1 - own]?.(copy))
      },
      onMessage: (take) => void (takers[own] = take),
    })
    const held = new Set<string>()
    const busy = new Map<string, Promise<undefined>>()
    const server = createServer(() => channel)
    const channel = createRpcChannel<HoldingHandlers>(transport(0), server.answers)
    const client = createHoldClient(() => primary)
    const primary = createRpcChannel<typeof server.answers>(transport(1), client.answers)
    const openStore = () =>
      client.companions.onHold(async (key) => {
        await busy.get(key)
        held.add(key)
        return () => void held.delete(key)
      })
    channels.add(channel)
    server.begin()
    if (!isSlow) openStore()
    const die = () => {
      channels.delete(channel)
      channel.end()
      server.end()
    }
    return { hold: client.companions.hold, held, busy, die, openStore }
  }
  return { startWorker, expire: () => [...timers].forEach((run) => timers.delete(run) && run()) }
}

describe('a worker that holds a key', () => {
  it('holds it in all other workers until it frees it', async () => {
    const { startWorker } = openWorkers()
    const [first, second, third] = [startWorker(), startWorker(), startWorker()]
    const free = await first.hold('a')
    expect([first, second, third].map(({ held }) => [...held])).to.deep.equal([[], ['a'], ['a']])
    free()
    await settle()
    expect([second, third].map(({ held }) => held.size)).to.deep.equal([0, 0])
  })

  it('waits until they have ended what they publish, and then for no one', async () => {
    const { startWorker } = openWorkers()
    const [first, second] = [startWorker(), startWorker()]
    const publishing = Promise.withResolvers<undefined>()
    second.busy.set('a', publishing.promise)
    let isHeld = false
    const holding = first.hold('a').then((free) => {
      isHeld = true
      return free
    })
    ;(await first.hold('b'))()
    await settle()
    expect(isHeld).to.equal(false)
    publishing.resolve(undefined)
    ;(await holding)()
    await settle()
    expect(second.held.size).to.equal(0)
  })

  it('keeps a second one waiting, of whichever worker', async () => {
    const { startWorker } = openWorkers()
    const [first, second] = [startWorker(), startWorker()]
    const free = await first.hold('a')
    const order: string[] = []
    const next = second.hold('a').then((freeNext) => {
      order.push('second')
      freeNext()
    })
    await settle()
    order.push('freed')
    free()
    await next
    expect(order).to.deep.equal(['freed', 'second'])
  })

  it('loses it when it is dead for some time, or has had it for too long', async () => {
    const { startWorker, expire } = openWorkers()
    const [first, second, third] = [startWorker(), startWorker(), startWorker()]
    await first.hold('a')
    first.die()
    await settle()
    expect(third.held.size, 'while its last request may be under way').to.equal(1)
    expire()
    await settle()
    expect(third.held.size).to.equal(0)
    await second.hold('a')
    expire()
    await settle()
    expect(third.held.size).to.equal(0)
    ;(await third.hold('a'))()
  })

  it('holds it also in a worker that starts meanwhile, before that opens its store', async () => {
    const { startWorker } = openWorkers()
    const free = await startWorker().hold('a')
    const [late, slow] = [startWorker(), startWorker({ isSlow: true })]
    await settle()
    expect([...late.held]).to.deep.equal(['a'])
    slow.openStore()
    await settle()
    expect([...slow.held]).to.deep.equal(['a'])
    free()
    await settle()
    expect([late, slow].map(({ held }) => held.size)).to.deep.equal([0, 0])
  })

  it('waits for what a worker may have sent before it died', async () => {
    const { startWorker, expire } = openWorkers()
    const [first, second] = [startWorker(), startWorker()]
    second.die()
    let isHeld = false
    const holding = first.hold('a').then(() => (isHeld = true))
    await settle()
    expect(isHeld).to.equal(false)
    expire()
    await holding
  })

  it('is refused where another worker dies meanwhile: what that publishes may still come', async () => {
    const { startWorker } = openWorkers()
    const [first, second, third] = [startWorker(), startWorker(), startWorker()]
    second.busy.set('a', new Promise(() => {}))
    const holding = rejection(first.hold('a'))
    await settle()
    second.die()
    expect(await holding).to.have.property('code', 'overloaded')
    await settle()
    expect(third.held.size).to.equal(0)
  })
})
