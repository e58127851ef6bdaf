import { expect } from 'chai'
import { mergeByName } from '../../../src/remote/sync/merge-by-name.ts'

async function* list(...names: readonly string[]) {
  for (const name of names) yield { name }
}

const merged = async (...lists: readonly (readonly string[])[]) => {
  const result: string[] = []
  for await (const { name, found } of mergeByName(lists.map((names) => list(...names)))) {
    result.push(`${name}:${found.map((entry) => (entry ? 1 : 0)).join('')}`)
  }
  return result
}

describe('mergeByName', () => {
  it('merges lists in the order of their bytes', async () => {
    expect(await merged()).to.deep.equal([])
    expect(await merged([], [])).to.deep.equal([])
    expect(await merged(['a', 'c'], ['b', 'c', 'd'], ['c'])).to.deep.equal([
      'a:100',
      'b:010',
      'c:111',
      'd:010',
    ])
    expect(await merged(['\uff5e', '😀'], ['😀'])).to.deep.equal(['\uff5e:10', '😀:11'])
  })

  it('gives a name as often as a list has it', async () => {
    expect(await merged(['a', 'a'], ['a'])).to.deep.equal(['a:11', 'a:10'])
  })

  it('closes all lists when it is left', async () => {
    let closed = 0
    async function* endless() {
      try {
        for (let at = 0; ; at++) yield { name: `a${at}` }
      } finally {
        closed++
      }
    }
    for await (const { name } of mergeByName([endless(), endless()])) if (name !== '') break
    expect(closed).to.equal(2)
  })
})
