import { expect } from 'chai'
import { createMemoryFailureCounter } from '../../src/memory/index.ts'
import { createLinkBrake, createLoginBrake } from '../../src/policy/brakes.ts'
import type { FailureCounter } from '../../src/ports/failure-counter.ts'
import { turn } from '../turn.ts'
import { times } from './crowd.ts'

/** A counter of three servers, which answers after a tick. */
function shared(servers = 3): FailureCounter {
  const counter = createMemoryFailureCounter({ windowMs: 60_000, now: () => 0 })
  return {
    async read(key) {
      await turn()
      return counter.read(key)
    },
    async add(key) {
      await turn()
      await counter.add(key)
    },
    sharers: () => servers,
  }
}

/** Work whose parts end together, when nothing else can go on: so all of them take equally long. */
function openWaves() {
  let ends: (() => void)[] = []
  let begun = 0
  let largest = 0
  const work = async () => {
    begun++
    await new Promise<void>((resolve) => ends.push(resolve))
  }
  /** Ends waves until `all` has settled. */
  const endAll = async (all: Promise<unknown>) => {
    let hasEnded = false
    const ending = all.finally(() => (hasEnded = true))
    while (!hasEnded) {
      for (let ticks = 0; ticks < 20; ticks++) await turn()
      largest = Math.max(largest, ends.length)
      for (const end of ends.splice(0)) end()
    }
    ends = []
    await ending
  }
  return { work, endAll, begun: () => begun, largest: () => largest }
}

describe('createLoginBrake with a shared counter', () => {
  const openServers = (counter = shared()) => times(3, () => createLoginBrake({ counter }))

  it('verifies fewer guesses of one address than the limit and the number of servers', async () => {
    const servers = openServers()
    const { work, endAll, begun } = openWaves()
    const guesses = servers.flatMap((brake, server) =>
      times(100, (n) =>
        brake.attempt(
          { name: `name ${n}`, address: '192.0.2.1', password: `${server}` },
          async () => {
            await work()
            return false
          },
        ),
      ),
    )
    await endAll(Promise.allSettled(guesses))
    expect(begun()).to.be.within(30, 32)
  })

  it('runs one attempt on each server while fewer failures are left than there are servers', async () => {
    const counter = shared()
    for (let n = 0; n < 29; n++) await counter.add('address 192.0.2.1')
    const { work, endAll, begun, largest } = openWaves()
    const guesses = openServers(counter).flatMap((brake) =>
      times(20, () =>
        brake.attempt({ name: 'anna', address: '192.0.2.1' }, async () => {
          await work()
          return false
        }),
      ),
    )
    await endAll(Promise.allSettled(guesses))
    expect([begun(), largest()]).to.deep.equal([3, 3])
  })

  it('verifies the guesses of few addresses on one name up to its limit, and one more of each address and server', async () => {
    const servers = openServers()
    const { work, endAll, begun } = openWaves()
    const guesses = servers.flatMap((brake) =>
      times(100, (n) =>
        brake.attempt({ name: 'anna', address: `192.0.2.${n % 2}` }, async () => {
          await work()
          return false
        }),
      ),
    )
    await endAll(Promise.allSettled(guesses))
    expect(begun()).to.be.within(10, 10 + 2 * 3)
    const [first] = servers
    expect(
      await first?.attempt({ name: 'anna', address: '198.51.100.1' }, async () => true),
    ).to.equal(true)
  })

  it('divides no slots if one server counts', async () => {
    const brake = createLoginBrake({ counter: shared(1) })
    const { work, endAll, largest } = openWaves()
    const guesses = times(100, () =>
      brake.attempt({ name: 'anna', address: '192.0.2.1' }, async () => {
        await work()
        return false
      }),
    )
    await endAll(Promise.allSettled(guesses))
    expect(largest()).to.equal(10)
  })
})

describe('createLinkBrake with a shared counter', () => {
  it('checks fewer wrong links of one address than the limit and the number of servers', async () => {
    const counter = shared()
    const { work, endAll, begun } = openWaves()
    const guesses = times(3, () => createLinkBrake({ counter })).flatMap((brake) =>
      times(100, () =>
        brake.attempt('192.0.2.1', async () => {
          await work()
          return 'wrong'
        }),
      ),
    )
    await endAll(Promise.allSettled(guesses))
    expect(begun()).to.be.within(30, 32)
  })
})
