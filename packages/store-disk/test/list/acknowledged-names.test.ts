import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { createLayout } from '../../src/directory/layout.ts'
import { createUnchangedCache } from '../../src/files/unchanged-cache.ts'
import { createNameCache, createNameBudget, listNames } from '../../src/list/list-names.ts'
import type { SortedNames } from '../../src/list/sorted-names.ts'
import { createPlainWalk, type Blobs } from '../../src/list/walk-blobs.ts'
import { collect } from '../collect.ts'

const rounds = 1000

/** Milliseconds: longer than any tick of a kernel's clock, and short, so that names are kept as often as can be. */
const settlesAfterMs = 20

/** Another process that makes and removes files in `directory`. */
async function startChanging(directory: string) {
  const script = join(import.meta.dirname, '../children/change-on-request.ts')
  const child = spawn(process.execPath, [script, directory], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  await lines.next()
  return {
    change: async (line: string) => {
      child.stdin.write(`${line}\n`)
      expect(await lines.next()).to.deep.equal({ done: false, value: line })
    },
    [Symbol.asyncDispose]: async () => {
      const end = once(child, 'exit')
      child.stdin.end()
      await end
    },
  }
}

/** Lists of alice, whose names are kept {@link settlesAfterMs} after a change already. */
function openLists(root: string) {
  const layout = createLayout(root, 'plain')
  const directory = layout.customerDirectory('alice')
  mkdirSync(directory)
  const cache = createUnchangedCache<SortedNames>({ settlesAfterMs })
  const statsOf = async (path: string) => statSync(path, { bigint: true, throwIfNoEntry: false })
  const kept = createNameCache(directory, cache, statsOf)
  const budget = createNameBudget()
  const walkBlobs = createPlainWalk(layout)
  let walks = 0
  const walk = <T>(use: (blobs: Blobs) => Promise<T>) => {
    walks++
    return walkBlobs('alice', use)
  }
  const list = async (limit = Infinity) =>
    (await collect(listNames({ walk, budget, kept }, { limit }))).flat()
  return {
    directory,
    list,
    /** Resolves when lists come from memory. */
    untilKept: async () => {
      for (let before = -1; before !== walks;) {
        await delay(settlesAfterMs / 4)
        before = walks
        await list()
      }
    },
  }
}

describe('A name that was made or removed', function () {
  this.timeout(120_000)

  it(`is in the next list, or not, ${rounds} times, by this process and another one`, async () => {
    await using place = await makeTemporaryDirectory()
    const { directory, list, untilKept } = openLists(place.path)
    await using other = await startChanging(directory)
    const expected = new Set<string>()
    const change = async (line: string) => {
      if (line.startsWith('-')) unlinkSync(join(directory, line.slice(1)))
      else {
        writeFileSync(`${directory}.parent`, '')
        renameSync(`${directory}.parent`, join(directory, line))
      }
    }
    for (let round = 0; round < rounds; round++) {
      if (round % 7 === 0) await untilKept()
      const name = `name ${(round * 37) % 50}`
      const isThere = expected.delete(name)
      if (!isThere) expected.add(name)
      await (round % 2 === 0 ? other.change : change)(isThere ? `-${name}` : name)
      const names = [...expected].sort()
      expect(await list(), `round ${round}`).to.deep.equal(names)
      expect(await list(10), `round ${round}, a page`).to.deep.equal(names.slice(0, 10))
    }
  })
})
