import { expect } from 'chai'
import { orderedConcurrentMap } from '../../src/lists/file-lines.ts'

/** Works on items until told their results. */
function createWork() {
  const begun: string[] = []
  const results = new Map<string, (result: string) => void>()
  const takings = new Map<string, () => void>()
  return {
    begun,
    begin: (item: string) => {
      begun.push(item)
      const taken = Promise.withResolvers<undefined>()
      const result = Promise.withResolvers<string>()
      takings.set(item, () => taken.resolve(undefined))
      results.set(item, result.resolve)
      return { taken: taken.promise, result: result.promise }
    },
    take: (...items: string[]) => items.forEach((item) => takings.get(item)?.()),
    end: (...items: string[]) => items.forEach((item) => results.get(item)?.(`${item} done`)),
    /** Until everything that can happen has. */
    settle: () => new Promise((resolve) => void setImmediate(resolve)),
  }
}

async function* items(names: string, failure?: Error) {
  yield* names
  if (failure) throw failure
}

describe('orderedConcurrentMap', () => {
  it('asks for an item when the one before is taken, up to the limit', async () => {
    const { begin, begun, take, end, settle } = createWork()
    const results = orderedConcurrentMap(items('abcd'), 2, begin)
    const first = results.next()
    await settle()
    expect(begun).to.deep.equal(['a'])
    take('a')
    await settle()
    expect(begun).to.deep.equal(['a', 'b'])
    take('b')
    await settle()
    expect(begun).to.deep.equal(['a', 'b'])
    end('a')
    expect((await first).value).to.deep.equal(['a done'])
    await settle()
    expect(begun).to.deep.equal(['a', 'b', 'c'])
  })

  it('gives results in the order of the items, and together what is there', async () => {
    const { begin, take, end, settle } = createWork()
    const results = orderedConcurrentMap(items('abc'), 3, begin)
    const first = results.next()
    for (const item of 'abc') {
      await settle()
      take(item)
    }
    end('b')
    await settle()
    end('a')
    expect((await first).value).to.deep.equal(['a done', 'b done'])
    end('c')
    expect(await results.next()).to.deep.equal({ done: false, value: ['c done'] })
    expect(await results.next()).to.deep.equal({ done: true, value: undefined })
  })

  it('gives a result while it waits for the next item', async () => {
    const { begin, take, end, settle } = createWork()
    async function* stalled() {
      yield 'a'
      await new Promise(() => {})
    }
    const results = orderedConcurrentMap(stalled(), 2, begin)
    const first = results.next()
    await settle()
    take('a')
    end('a')
    expect((await first).value).to.deep.equal(['a done'])
  })

  it('fails where the items do, behind the results of those before', async () => {
    const { begin, take, end, settle } = createWork()
    const failure = new Error('broken off')
    const results = orderedConcurrentMap(items('a', failure), 2, begin)
    const first = results.next()
    await settle()
    take('a')
    await settle()
    end('a')
    expect((await first).value).to.deep.equal(['a done'])
    expect(await results.next().catch((error: unknown) => error)).to.equal(failure)
  })

  it('asks for no more items when no more results are asked for', async () => {
    const { begin, begun, take, end, settle } = createWork()
    const results = orderedConcurrentMap(items('abc'), 3, begin)
    const first = results.next()
    await settle()
    end('a')
    await first
    await results.return(undefined)
    take('a')
    await settle()
    expect(begun).to.deep.equal(['a'])
  })
})
