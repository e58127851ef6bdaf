// Measures the memory of the process.
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { noNameCache, createNameBudget, listNames } from '../../src/list/list-names.ts'
import type { Blobs } from '../../src/list/walk-blobs.ts'
import { memoryInUse } from '../memory-in-use.ts'

const [lists, count] = [30, 100_000]
const MiB = 1024 * 1024

const nameAt = (index: number) =>
  `a report of the usual length ${String(index).padStart(6, '0')}.pdf`

/** Names in no order, as a directory has them. */
async function* manyBlobs(): Blobs {
  for (let at = 0; at < count; at += 1000) {
    await setImmediate()
    yield Array.from({ length: 1000 }, (_, index) => nameAt(((at + index) * 7919) % count))
  }
}

type Pages = AsyncIterator<readonly string[], undefined>

/** A list that has given so many names. */
interface Begun {
  readonly pages: Pages
  readonly given: number
}

/** So many lists, each of which has given its first page. */
async function begin(many: number, open: () => Pages): Promise<readonly Begun[]> {
  const start = async (): Promise<Begun> => {
    const pages = open()
    return { pages, given: (await pages.next()).value?.length ?? 0 }
  }
  return Promise.all(Array.from({ length: many }, start))
}

async function giveUp(begun: readonly Begun[]): Promise<void> {
  for (const { pages } of begun) await pages.return?.()
}

describe('listNames for readers who wait', function () {
  this.timeout(300_000)

  it(`holds ${lists} lists of ${count} names in 64 MiB, and gives the rest when they go on`, async () => {
    const budget = createNameBudget()
    const walk = <T>(use: (blobs: Blobs) => Promise<T>) => use(manyBlobs())
    const source = { walk, budget, kept: noNameCache }
    const open = () => listNames(source)[Symbol.asyncIterator]()
    // The first lists compile code and fill caches.
    await giveUp(await begin(1, open))
    const before = memoryInUse()
    const waiting: Begun[] = []
    while (waiting.length < lists) waiting.push(...(await begin(10, open)))
    // The resident memory depends on what the process has freed and not given back; live memory does not.
    const grown = (memoryInUse() - before) / MiB
    expect(grown, 'MiB of live memory').to.be.below(64)
    expect(budget.held() / MiB, 'MiB of names').to.be.below(64)
    const [first] = waiting
    let index = first?.given ?? 0
    const next = () => first?.pages.next()
    for (let step = await next(); step && !step.done; step = await next()) {
      for (const name of step.value) {
        if (name !== nameAt(index)) expect(name).to.equal(nameAt(index))
        index++
      }
    }
    expect(index).to.equal(count)
    await giveUp(waiting)
    expect(budget.held()).to.equal(0)
  })
})
