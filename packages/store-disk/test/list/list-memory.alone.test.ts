// Measures the memory of the process.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { listNames } from '../../src/list/list-names.ts'
import { createNameBudget } from '../../src/list/name-budget.ts'
import type { Blobs } from '../../src/list/walk-blobs.ts'
import { memoryInUse } from '../memory-in-use.ts'

const [lists, count] = [30, 100_000]
const MiB = 1024 * 1024

const nameAt = (index: number) =>
  `a report of the usual length ${String(index).padStart(6, '0')}.pdf`

/** Names in no order, as a directory has them. */
async function* manyBlobs(): Blobs {
  for (let at = 0; at < count; at += 1000) {
    await nextTurn()
    yield Array.from({ length: 1000 }, (_, index) => {
      const name = nameAt(((at + index) * 7919) % count)
      return { name, path: name }
    })
  }
}

let firstPage = 0

/** So many lists, each of which has given its first page. */
async function begin(many: number, open: () => AsyncIterator<readonly string[], undefined>) {
  const begun = Array.from({ length: many }, open)
  const pages = await Promise.all(begun.map((names) => names.next()))
  firstPage = pages[0]?.value?.length ?? 0
  return begun
}

async function giveUp(
  begun: readonly AsyncIterator<readonly string[], undefined>[],
): Promise<void> {
  for (const names of begun) await names.return?.()
}

describe('listNames for readers who wait', function () {
  this.timeout(300_000)

  it(`holds ${lists} lists of ${count} names in 64 MiB, and gives the rest when they go on`, async () => {
    const budget = createNameBudget()
    const open = () => listNames((use) => use(manyBlobs()), budget)[Symbol.asyncIterator]()
    // The first lists compile code and fill caches.
    await giveUp(await begin(1, open))
    const before = memoryInUse()
    const waiting: AsyncIterator<readonly string[], undefined>[] = []
    while (waiting.length < lists) waiting.push(...(await begin(10, open)))
    // The resident memory depends on what the process has freed and not given back; live memory does not.
    const grown = (memoryInUse() - before) / MiB
    expect(grown, 'MiB of live memory').to.be.below(64)
    expect(budget.held() / MiB, 'MiB of names').to.be.below(64)
    const [first] = waiting
    let index = firstPage
    for (let step = await first?.next(); step && !step.done; step = await first?.next()) {
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
