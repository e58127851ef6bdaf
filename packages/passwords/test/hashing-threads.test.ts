import { rejection, until } from '@holdfast/testing'
import { expect } from 'chai'
import { createHashingThreads, type HashingThreadsOptions } from '../src/compute-scrypt.ts'

type Options = Partial<HashingThreadsOptions<string, string>>

/** Threads whose computations last until they are ended, in the order in which they began. */
function openThreads(options: Options = {}) {
  const ends: ((output: string | undefined) => void)[] = []
  const begun: string[] = []
  const state = { started: 0, stopped: 0 }
  const begin = <T>(what: string, promise: Promise<T>) => {
    begun.push(what)
    return promise
  }
  const wait = () => new Promise<string | undefined>((resolve) => ends.push(resolve))
  const compute = createHashingThreads<string, string>({
    max: 2,
    start: () => {
      const thread = `thread ${++state.started}`
      return {
        compute: (input) => begin(`${input} in ${thread}`, wait()),
        stop: () => {
          state.stopped++
        },
      }
    },
    instead: (input) =>
      begin(
        `${input} instead`,
        wait().then((output) => output ?? Promise.reject(new Error('no memory'))),
      ),
    ...options,
  })
  const end = async (output?: string) => {
    ends.shift()?.(output)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { compute, begun, end, state }
}

describe('createHashingThreads', () => {
  it('starts no thread for one computation after another', async () => {
    const { compute, begun, end } = openThreads()
    for (const input of ['a', 'b']) {
      const one = compute(input)
      await end(`hash of ${input}`)
      expect(await one).to.equal(`hash of ${input}`)
    }
    expect(begun).to.deep.equal(['a instead', 'b instead'])
  })

  it('computes no more than `max` at once, in threads that it uses again', async () => {
    const { compute, begun, end } = openThreads()
    const all = ['a', 'b', 'c', 'd', 'e'].map((input) => compute(input))
    expect(begun).to.deep.equal(['a instead', 'b in thread 1'])
    for (const output of ['A', 'B', 'C', 'D', 'E']) await end(output)
    expect(await Promise.all(all)).to.deep.equal(['A', 'B', 'C', 'D', 'E'])
    expect(begun.slice(2)).to.deep.equal(['c in thread 2', 'd in thread 1', 'e in thread 2'])
  })

  it('stops threads that have no work, and starts others when there is some again', async () => {
    const { compute, begun, end, state } = openThreads({ idleMs: 1 })
    for (const input of ['a', 'b']) {
      const both = [compute(`${input}1`), compute(`${input}2`)]
      await end('one')
      await end('two')
      expect(await Promise.all(both)).to.deep.equal(['one', 'two'])
      await until('the thread is stopped', () => state.stopped === state.started)
    }
    expect(begun).to.include.members(['a2 in thread 1', 'b2 in thread 2'])
  })

  it('computes without a thread what a thread failed at, and starts none for a while', async () => {
    const { compute, begun, end } = openThreads({ pauseMs: 60_000 })
    const all = ['a', 'b', 'c'].map((input) => compute(input))
    await end('A')
    await end(undefined)
    for (const output of ['C', 'B']) await end(output)
    expect(begun).to.deep.equal(['a instead', 'b in thread 1', 'c in thread 2', 'b instead'])
    expect(await Promise.all(all)).to.deep.equal(['A', 'B', 'C'])
  })

  it('starts threads again after that while', async () => {
    const { compute, begun, end } = openThreads({ pauseMs: 0 })
    const all = ['a', 'b'].map((input) => compute(input))
    await end('A')
    await end(undefined)
    all.push(compute('c'))
    await end('B')
    await end('C')
    expect(await Promise.all(all)).to.deep.equal(['A', 'B', 'C'])
    expect(begun.at(-1)).to.equal('c in thread 2')
  })

  it('computes without threads where none can be started', async () => {
    const { compute, begun, end } = openThreads({
      start: () => {
        throw new Error('not permitted')
      },
    })
    const all = ['a', 'b', 'c'].map((input) => compute(input))
    for (const output of ['A', 'B', 'C']) await end(output)
    expect(await Promise.all(all)).to.deep.equal(['A', 'B', 'C'])
    expect(begun).to.deep.equal(['a instead', 'b instead', 'c instead'])
  })

  it('goes on after a computation that failed without a thread, too', async () => {
    const { compute, end } = openThreads({ max: 1 })
    const failing = rejection(compute('a'))
    await end(undefined)
    expect(await failing)
      .to.be.instanceOf(Error)
      .with.property('message', 'no memory')
    const next = compute('b')
    await end('B')
    expect(await next).to.equal('B')
  })
})
