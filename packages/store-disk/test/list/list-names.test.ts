import { setImmediate } from 'node:timers/promises'
import { compareUtf8, type ListOptions } from '@holdfast/core'
import { expect } from 'chai'
import {
  type NameSource,
  listNames as listSource,
  noNameCache,
  createNameBudget,
  type NameBudget,
} from '../../src/list/list-names.ts'
import type { Blobs } from '../../src/list/walk-blobs.ts'
import { collect } from '../collect.ts'

const walking =
  (blobs: () => Blobs) =>
  <T>(use: (blobs: Blobs) => Promise<T>) =>
    use(blobs())

const listNames = (walk: NameSource['walk'], budget: NameBudget, options?: ListOptions) =>
  listSource({ walk, budget, kept: noNameCache }, options)

/** Blobs `0` to 4,999, in batches of 100, a turn of the event loop for each; tells how many batches were asked for. */
function manyBlobs() {
  const state = { batches: 0, isClosed: false }
  async function* blobs() {
    try {
      for (let batch = 0; batch < 50; batch++) {
        state.batches++
        await setImmediate()
        yield Array.from({ length: 100 }, (_, index) => String(batch * 100 + index))
      }
    } finally {
      state.isClosed = true
    }
  }
  return { state, blobs: blobs() }
}

const all = Array.from({ length: 5000 }, (_, index) => String(index)).sort(compareUtf8)

describe('listNames', () => {
  it('pages through all names without a gap', async () => {
    const pages: string[][] = []
    let after = ''
    do {
      const page = listNames(
        walking(() => manyBlobs().blobs),
        createNameBudget(),
        { prefix: '4', after, limit: 300 },
      )
      pages.push((await collect(page)).flat())
      after = pages.at(-1)?.at(-1) ?? ''
    } while (after !== '')
    expect(pages.map(({ length }) => length)).to.deep.equal([300, 300, 300, 211, 0])
    expect(pages.flat()).to.deep.equal(all.filter((name) => name.startsWith('4')))
  })

  it('lets other work go on while its names are taken as fast as they come', async () => {
    const { blobs } = manyBlobs()
    const names = listNames(
      walking(() => blobs),
      createNameBudget(),
    )[Symbol.asyncIterator]()
    const first = await names.next()
    let immediates = 0
    let isOver = false
    const otherWork = async () => {
      while (!isOver) {
        await setImmediate()
        immediates++
      }
    }
    const working = otherWork()
    const taken: string[] = [...valueOf(first)]
    for (let step = await names.next(); !step.done; step = await names.next()) {
      taken.push(...step.value)
    }
    isOver = true
    await working
    expect(taken).to.deep.equal(all)
    expect(immediates).to.be.at.least(4)
  })

  it('stops looking for names when its reader stops before the first', async () => {
    const { state, blobs } = manyBlobs()
    const names = listNames(
      walking(() => blobs),
      createNameBudget(),
    )[Symbol.asyncIterator]()
    const first = names.next()
    await setImmediate()
    await names.return?.()
    expect(await first).to.deep.equal({ done: true, value: undefined })
    expect(state.isClosed).to.equal(true)
    expect(state.batches).to.be.below(10)
  })

  it('looks at nothing before it is read', async () => {
    const { state, blobs } = manyBlobs()
    const list = listNames(
      walking(() => blobs),
      createNameBudget(),
    )
    await setImmediate()
    expect(state.batches).to.equal(0)
    expect((await collect(list)).flat()).to.have.length(5000)
  })

  it('fails as the walk does', async () => {
    const broken = new Error('broken')
    async function* failing() {
      yield ['a']
      throw broken
    }
    const failure = await collect(listNames(walking(failing), createNameBudget())).catch(
      (error: unknown) => error,
    )
    expect(failure).to.equal(broken)
  })

  it('finds again what it may not hold, and gives every name once', async () => {
    const budget = createNameBudget({ most: 60_000, least: 60_000 })
    let walks = 0
    const names = listNames(
      walking(() => {
        walks++
        return manyThousand()
      }),
      budget,
    )
    expect((await collect(names)).flat()).to.deep.equal(sortedThousands)
    expect(walks).to.be.within(2, 12)
    expect(budget.held()).to.equal(0)
  })

  it('drops the names of a reader who waits, and goes on behind those that were given', async () => {
    let time = 0
    const budget = createNameBudget({ most: 300_000, least: 0 }, () => time)
    const open = () => listNames(walking(manyThousand), budget)[Symbol.asyncIterator]()
    const slow = open()
    const first = await slow.next()
    const heldBefore = budget.held()
    time += 5000
    const quick = open()
    await quick.next()
    expect(budget.held()).to.be.within(1, heldBefore)
    const rest: string[] = [...valueOf(first)]
    for (let step = await slow.next(); !step.done; step = await slow.next())
      rest.push(...step.value)
    expect(rest).to.deep.equal(sortedThousands)
    await quick.return?.()
    expect(budget.held()).to.equal(0)
  })

  it('holds nothing of a list that is given up', async () => {
    const budget = createNameBudget()
    const names = listNames(walking(manyThousand), budget)[Symbol.asyncIterator]()
    await names.next()
    expect(budget.held()).to.be.above(0)
    await names.return?.()
    expect(budget.held()).to.equal(0)
  })
})

function valueOf(step: IteratorResult<readonly string[], unknown>): readonly string[] {
  return step.done === true ? [] : step.value
}

const sortedThousands = Array.from({ length: 40_000 }, (_, index) => String(index)).sort()

async function* manyThousand() {
  for (let at = 0; at < 40_000; at += 100) {
    yield Array.from({ length: 100 }, (_, index) => String(((at + index) * 7919) % 40_000))
  }
}
