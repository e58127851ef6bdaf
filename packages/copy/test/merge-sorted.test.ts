import { compareUtf8 } from '@holdfast/core'
import { nastyNames } from '@holdfast/contract'
import { expect } from 'chai'
import { mergeSorted } from '../src/walk-files.ts'
import { collect } from './store-content.ts'

async function* list(...names: readonly string[]) {
  yield* names
}

const merge = async (first: readonly string[], second: readonly string[]) =>
  (await collect(mergeSorted(list(...first), list(...second)))).map(
    ({ value, inFirst, inSecond }) => `${value}${inFirst ? '<' : ''}${inSecond ? '>' : ''}`,
  )

describe('mergeSorted', () => {
  it('says in which list each string is', async () => {
    expect(await merge(['a', 'b', 'd'], ['b', 'c', 'e'])).to.deep.equal([
      'a<',
      'b<>',
      'c>',
      'd<',
      'e>',
    ])
  })

  it('takes empty lists, and the empty string', async () => {
    expect(await merge([], [])).to.deep.equal([])
    expect(await merge(['', 'a'], [])).to.deep.equal(['<', 'a<'])
    expect(await merge([], ['', 'a'])).to.deep.equal(['>', 'a>'])
  })

  it('goes by UTF-8 bytes', async () => {
    const names = [...nastyNames].sort(compareUtf8)
    const even = names.filter((_, index) => index % 2 === 0)
    const both = names.map((name, index) => `${name}<${index % 2 === 0 ? '>' : ''}`)
    expect(await merge(names, even)).to.deep.equal(both)
  })

  it('closes both lists when it is stopped, and when one fails', async () => {
    const closed: string[] = []
    async function* closing(name: string, error?: Error) {
      try {
        yield 'a'
        if (error) throw error
        yield 'b'
      } finally {
        closed.push(name)
      }
    }
    for await (const _ of mergeSorted(closing('1'), closing('2'))) break
    expect(closed).to.have.members(['1', '2'])
    const broken = new Error('broken')
    const failing = collect(mergeSorted(closing('3'), closing('4', broken)))
    expect(await failing.catch((error: unknown) => error)).to.equal(broken)
    expect(closed).to.have.members(['1', '2', '3', '4'])
  })
})
