import { expect } from 'chai'
import { forEachConcurrently } from '../src/copy-files.ts'

async function* numbers(count: number) {
  for (let number = 0; number < count; number++) yield number
}

const tick = () => new Promise((resolve) => setImmediate(resolve))
const never = new AbortController().signal

describe('forEachConcurrently', () => {
  it('works on as many items at a time as it may, and on all of them', async () => {
    const seen: number[] = []
    let [underWay, most] = [0, 0]
    await forEachConcurrently(numbers(20), 3, never, async (number) => {
      most = Math.max(most, ++underWay)
      await tick()
      underWay--
      seen.push(number)
    })
    expect(seen.sort((a, b) => a - b)).to.deep.equal([...Array(20).keys()])
    expect(most).to.equal(3)
  })

  it('asks for nothing more after an abort, and waits for what is under way', async () => {
    const stop = new AbortController()
    const finished: number[] = []
    await forEachConcurrently(numbers(20), 2, stop.signal, async (number) => {
      if (number === 4) stop.abort()
      await tick()
      finished.push(number)
    })
    expect(finished.length).to.be.within(5, 6)
  })

  it('throws what the items throw when the work under way is done', async () => {
    const broken = new Error('broken')
    async function* items() {
      yield 1
      throw broken
    }
    let isDone = false
    const run = forEachConcurrently(items(), 4, never, async () => {
      await tick()
      isDone = true
    })
    expect(await run.catch((error: unknown) => error)).to.equal(broken)
    expect(isDone).to.be.true
  })
})
