import { expect } from 'chai'
import { createMemoryFailureCounter } from '../../src/memory/index.ts'
import { createLinkBrake, type LinkVerdict } from '../../src/policy/brakes.ts'
import type { FailureCounter } from '../../src/ports/failure-counter.ts'
import { refusal, rejection } from '../rejection.ts'
import { turn } from '../turn.ts'

/** A counter of another process, whose answers take a turn. */
function remote(counter: FailureCounter): FailureCounter {
  return {
    async read(key) {
      const count = await counter.read(key)
      await turn()
      return count
    },
    async add(key) {
      await turn()
      await counter.add(key)
    },
  }
}

const counter = () => createMemoryFailureCounter({ windowMs: 60_000 })

describe('createLinkBrake', () => {
  for (const [where, open] of [
    ['this', counter],
    ['another', () => remote(counter())],
  ] as const) {
    it(`judges no more wrong links that come at once than it allows, counted in ${where} process`, async () => {
      const brake = createLinkBrake({ counter: open() })
      let judged = 0
      const check = async (): Promise<LinkVerdict> => {
        judged += 1
        await turn()
        return 'wrong'
      }
      const attempts = Array.from({ length: 200 }, () =>
        brake.attempt('192.0.2.1', check).then(
          (isGood) => (isGood ? 'good' : 'wrong'),
          async (error: unknown) => refusal(Promise.reject(error as Error)),
        ),
      )
      const results = await Promise.all(attempts)
      expect(judged).to.equal(30)
      expect(results.filter((result) => result === 'wrong')).to.have.length(30)
      expect(results.filter((result) => result === 'too-many-attempts')).to.have.length(170)
    })
  }

  it('judges all of many good links at once, in the order of their arrival', async () => {
    const brake = createLinkBrake({ counter: remote(counter()), failuresPerAddress: 3 })
    const judged: number[] = []
    let underWay = 0
    let most = 0
    const attempts = Array.from({ length: 50 }, (_, n) =>
      brake.attempt('192.0.2.1', async () => {
        judged.push(n)
        most = Math.max(most, ++underWay)
        await turn()
        underWay -= 1
        return n === 0 ? 'wrong' : 'good'
      }),
    )
    const results = await Promise.all(attempts)
    expect(results.filter(Boolean)).to.have.length(49)
    expect(judged).to.deep.equal(Array.from({ length: 50 }, (_, n) => n))
    expect(most).to.be.within(1, 3)
  })

  it('keeps no address waiting for another one', async () => {
    const brake = createLinkBrake({ counter: counter(), failuresPerAddress: 1 })
    const { promise, resolve } = Promise.withResolvers<LinkVerdict>()
    const waiting = brake.attempt('192.0.2.1', () => promise)
    const second = brake.attempt('192.0.2.1', async () => 'good')
    expect(await brake.attempt('192.0.2.2', async () => 'good')).to.equal(true)
    resolve('expired')
    expect(await waiting).to.equal(false)
    expect(await second).to.equal(true)
  })

  it('lets a link in, however many of other addresses are counted meanwhile', async () => {
    const inner = counter()
    const brakes: { flood?: () => Promise<boolean> } = {}
    let reads = 0
    const brake = createLinkBrake({
      counter: {
        async read(key) {
          const count = await inner.read(key)
          if (key !== 'link 192.0.2.1') return count
          reads += 1
          // Each reading takes so long that another wrong link has been counted by its end.
          if (reads <= 5) await brakes.flood?.()
          return count
        },
        add: (key) => inner.add(key),
      },
    })
    let address = 0
    brakes.flood = () => brake.attempt(`198.51.100.${address++}`, async () => 'wrong')
    expect(await brake.attempt('192.0.2.1', async () => 'good')).to.equal(true)
    expect(reads).to.equal(1)
  })

  it('frees the place of an attempt that fails, and counts none', async () => {
    const brake = createLinkBrake({ counter: counter(), failuresPerAddress: 1 })
    const fault = new Error('The store is away')
    const failed = brake.attempt('192.0.2.1', () => Promise.reject(fault))
    const next = brake.attempt('192.0.2.1', async () => 'good')
    expect(await rejection(failed)).to.equal(fault)
    expect(await next).to.equal(true)
  })
})
