import { expect } from 'chai'
import type { UploadItem } from '../../page/uploads/upload-item.ts'
import { createUploadQueue } from '../../page/uploads/upload-queue.ts'
import { brokenLine, overloaded, quotaExceeded, refusedLogin, taken } from './refusals.ts'

interface Attempt {
  readonly item: UploadItem
  readonly signal: AbortSignal
  readonly sent: (bytes: number) => void
  readonly succeed: () => Promise<void>
  readonly fail: (error: Error) => Promise<void>
}

/** A queue whose sends end when the test says so. */
function harness(concurrency = 2) {
  const attempts: Attempt[] = []
  const timers: { ms: number; run: () => void }[] = []
  const stored: string[] = []
  const discarded: string[] = []
  let idle = 0
  const queue = createUploadQueue({
    concurrency,
    transport: {
      send: (item, signal, sent) =>
        new Promise((resolve, reject) => {
          const settle = async (end: () => void) => {
            end()
            await new Promise((done) => setImmediate(done))
          }
          attempts.push({
            item,
            signal,
            sent,
            succeed: () => settle(resolve),
            fail: (error) => settle(() => reject(error)),
          })
        }),
      discard: ({ name }) => discarded.push(name.value),
    },
    onStored: ({ name }) => stored.push(name.value),
    onIdle: () => (idle += 1),
    after(ms, run) {
      const timer = { ms, run }
      timers.push(timer)
      return () => void timers.splice(timers.indexOf(timer), 1)
    },
  })
  const add = (...names: string[]) =>
    queue.add(names.map((name) => ({ name, file: new File(['12345'], name) })))
  const states = () => queue.items.value.map(({ state }) => state.value.kind)
  return { queue, attempts, timers, stored, discarded, add, states, idle: () => idle }
}

describe('createUploadQueue', () => {
  it('sends a few at a time, in order', async () => {
    const { add, attempts, states, stored } = harness(2)
    add('a', 'b', 'c')
    expect(states()).to.deep.equal(['running', 'running', 'waiting'])
    await attempts[1]!.succeed()
    expect(states()).to.deep.equal(['running', 'done', 'running'])
    expect(stored).to.deep.equal(['b'])
  })

  it('says when nothing is under way any more', async () => {
    const { add, attempts, idle } = harness()
    add('a')
    expect(idle()).to.equal(0)
    await attempts[0]!.succeed()
    expect(idle()).to.equal(1)
  })

  it('pauses one, sends the next meanwhile, and resumes', async () => {
    const { queue, add, attempts, states } = harness(1)
    add('a', 'b')
    queue.pause(attempts[0]!.item)
    expect(attempts[0]!.signal.aborted).to.equal(true)
    expect(states()).to.deep.equal(['paused', 'running'])
    queue.resume(attempts[0]!.item)
    expect(states()).to.deep.equal(['waiting', 'running'])
    await attempts[1]!.succeed()
    expect(states()).to.deep.equal(['running', 'done'])
  })

  it('counts nothing that an attempt does after it was paused', async () => {
    const { queue, add, attempts, states } = harness()
    add('a')
    queue.pause(attempts[0]!.item)
    await attempts[0]!.fail(brokenLine())
    expect(states()).to.deep.equal(['paused'])
  })

  it('tries again after the line broke, after longer and longer times', async () => {
    const { add, attempts, timers, states } = harness()
    add('a')
    const waits = []
    for (let time = 0; time < 7; time += 1) {
      await attempts.at(-1)!.fail(brokenLine())
      expect(states()).to.deep.equal(['retrying'])
      const { ms, run } = timers.pop()!
      waits.push(ms)
      run()
    }
    expect(waits).to.deep.equal([1000, 2000, 4000, 8000, 15_000, 30_000, 30_000])
    await attempts.at(-1)!.succeed()
    expect(states()).to.deep.equal(['done'])
  })

  it('gives up after twelve failures without a byte, and counts anew after one', async () => {
    const { add, attempts, timers, states } = harness()
    add('a')
    for (let time = 0; time < 12; time += 1) {
      await attempts.at(-1)!.fail(brokenLine())
      timers.pop()!.run()
    }
    attempts.at(-1)!.sent(3)
    await attempts.at(-1)!.fail(brokenLine())
    expect(states()).to.deep.equal(['retrying'])
    for (let time = 0; time < 12; time += 1) {
      timers.pop()!.run()
      await attempts.at(-1)!.fail(brokenLine())
    }
    expect(states()).to.deep.equal(['failed'])
  })

  it('waits as long as the server asks for', async () => {
    const { add, attempts, timers } = harness()
    add('a')
    await attempts[0]!.fail(overloaded(20))
    expect(timers[0]!.ms).to.equal(20_000)
  })

  it('tries nothing again that the server has refused, until its user does', async () => {
    const { queue, add, attempts, states, timers } = harness()
    add('a')
    await attempts[0]!.fail(quotaExceeded())
    expect(states()).to.deep.equal(['failed'])
    expect(timers).to.deep.equal([])
    queue.resume(attempts[0]!.item)
    expect(states()).to.deep.equal(['running'])
  })

  it('waits for a new password where the old one is refused', async () => {
    const { add, attempts, states } = harness()
    add('a')
    await attempts[0]!.fail(refusedLogin())
    expect(states()).to.deep.equal(['paused'])
  })

  it('sends nothing else until the password is renewed, since each would count as a guess', async () => {
    const { queue, add, attempts, states, timers } = harness(2)
    add('a', 'b', 'c', 'd')
    queue.pause(queue.items.value[3]!)
    await attempts[1]!.fail(brokenLine())
    await attempts[0]!.fail(refusedLogin())
    await attempts[2]!.fail(refusedLogin())
    timers.pop()!.run()
    queue.resume(queue.items.value[0]!)
    add('e')
    expect(attempts).to.have.length(3)
    expect(states()).to.deep.equal(['paused', 'waiting', 'paused', 'paused', 'waiting'])
    queue.proceed()
    // What its user has paused stays so.
    expect(states()).to.deep.equal(['running', 'running', 'waiting', 'paused', 'waiting'])
  })

  it('goes on once what was refused is cancelled', async () => {
    const { queue, add, attempts } = harness(1)
    add('a', 'b')
    await attempts[0]!.fail(refusedLogin())
    queue.cancel(queue.items.value[0]!)
    expect(attempts.map(({ item }) => item.name.value)).to.deep.equal(['a', 'b'])
  })

  it('counts how many are in each state', async () => {
    const { queue, add, attempts } = harness(2)
    add('a', 'b', 'c', 'd')
    await attempts[0]!.succeed()
    await attempts[1]!.fail(quotaExceeded())
    expect(queue.counts.value).to.include({ done: 1, failed: 1, running: 2, waiting: 0 })
    queue.cancel(...queue.items.value.slice(1))
    queue.cancel(queue.items.value[0]!, ...queue.items.value)
    expect(new Set(Object.values(queue.counts.value))).to.deep.equal(new Set([0]))
  })

  it('takes out what is cancelled, and has what it has sent forgotten', async () => {
    const { queue, add, attempts, discarded } = harness()
    add('a')
    queue.cancel(attempts[0]!.item)
    expect(queue.items.value).to.deep.equal([])
    expect(attempts[0]!.signal.aborted).to.equal(true)
    expect(discarded).to.deep.equal(['a'])
  })

  it('clears what is done, and nothing else', async () => {
    const { queue, add, attempts, states } = harness()
    add('a', 'b')
    await attempts[0]!.succeed()
    queue.clear()
    expect(states()).to.deep.equal(['running'])
  })

  it('takes nothing more after its end, such as a folder that is read until then', () => {
    const { queue, add, attempts } = harness()
    queue.end()
    add('a')
    expect([...attempts, ...queue.items.value]).to.deep.equal([])
  })

  describe('where a name is taken', () => {
    it('asks, and does not try again by itself', async () => {
      const { add, attempts, states, timers } = harness()
      add('a.txt')
      await attempts[0]!.fail(taken())
      expect(states()).to.deep.equal(['conflict'])
      expect(timers).to.deep.equal([])
    })

    it('keeps both under the next name, until one is free', async () => {
      const { queue, add, attempts, states, stored } = harness()
      add('a.txt')
      await attempts[0]!.fail(taken())
      queue.decide(attempts[0]!.item, 'keep-both', false)
      expect(attempts[1]!.item.name.value).to.equal('a (2).txt')
      expect(attempts[1]!.item.replaces).to.equal(false)
      await attempts[1]!.fail(taken())
      expect(states()).to.deep.equal(['conflict'])
      queue.decide(attempts[1]!.item, 'keep-both', true)
      await attempts[2]!.fail(taken())
      expect(attempts[3]!.item.name.value).to.equal('a (4).txt')
      await attempts[3]!.succeed()
      expect(stored).to.deep.equal(['a (4).txt'])
    })

    it('replaces', async () => {
      const { queue, add, attempts } = harness()
      add('a.txt')
      await attempts[0]!.fail(taken())
      queue.decide(attempts[0]!.item, 'replace', false)
      expect(attempts[1]!.item.replaces).to.equal(true)
      expect(attempts[1]!.item.name.value).to.equal('a.txt')
    })

    it('gives up where the server will not have it replaced either', async () => {
      const { queue, add, attempts, states } = harness()
      add('a.txt')
      await attempts[0]!.fail(taken())
      queue.decide(attempts[0]!.item, 'replace', true)
      await attempts[1]!.fail(taken())
      expect(states()).to.deep.equal(['failed'])
      expect(attempts).to.have.length(2)
    })

    it('takes a decision once, though it was clicked twice', async () => {
      const { queue, add, attempts, states } = harness()
      add('a.txt')
      await attempts[0]!.fail(taken())
      queue.decide(attempts[0]!.item, 'keep-both', false)
      queue.decide(attempts[0]!.item, 'keep-both', false)
      expect(attempts).to.have.length(2)
      expect(states()).to.deep.equal(['running'])
      expect(attempts[1]!.item.name.value).to.equal('a (2).txt')
    })

    it('skips', async () => {
      const { queue, add, attempts } = harness()
      add('a.txt')
      await attempts[0]!.fail(taken())
      queue.decide(attempts[0]!.item, 'skip', false)
      expect(queue.items.value).to.deep.equal([])
      expect(attempts).to.have.length(1)
    })

    it('decides for all that wait and all that come, and no longer when all are done', async () => {
      const { queue, add, attempts, states } = harness(3)
      add('a', 'b', 'c')
      await attempts[0]!.fail(taken())
      await attempts[1]!.fail(taken())
      queue.decide(attempts[0]!.item, 'skip', true)
      expect(states()).to.deep.equal(['running'])
      await attempts[2]!.fail(taken())
      expect(states()).to.deep.equal([])
      add('d')
      await attempts[3]!.fail(taken())
      expect(states()).to.deep.equal(['conflict'])
    })

    it('decides nothing for files that are added later, though others are still on their way', async () => {
      const { queue, add, attempts, states } = harness(3)
      add('a', 'b')
      await attempts[0]!.fail(taken())
      queue.decide(attempts[0]!.item, 'skip', true)
      add('c')
      for (const index of [2, 1]) await attempts[index]!.fail(taken())
      expect(states()).to.deep.equal(['conflict'])
    })
  })
})
