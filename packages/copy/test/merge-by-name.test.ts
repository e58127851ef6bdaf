import { nastyNames } from '@holdfast/contract'
import { compareUtf8 } from '@holdfast/core'
import { collect } from '@holdfast/testing'
import { expect } from 'chai'
import { mergeByName } from '../src/walk-files.ts'

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
    expect(await merged([], ['', 'a'])).to.deep.equal([':01', 'a:01'])
    expect(await merged(['a', 'c'], ['b', 'c', 'd'], ['c'])).to.deep.equal([
      'a:100',
      'b:010',
      'c:111',
      'd:010',
    ])
    const names = [...nastyNames].sort(compareUtf8)
    const even = names.filter((_, index) => index % 2 === 0)
    const both = names.map((name, index) => `${name}:1${index % 2 === 0 ? '1' : '0'}`)
    expect(await merged(names, even)).to.deep.equal(both)
  })

  it('gives a name as often as a list has it', async () => {
    expect(await merged(['a', 'a'], ['a'])).to.deep.equal(['a:11', 'a:10'])
  })

  it('closes all lists when it is left, and when one fails', async () => {
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
    async function* broken(): AsyncGenerator<{ name: string }> {
      throw new Error('broken')
    }
    const failure = await collect(mergeByName([endless(), broken()])).catch(String)
    expect(failure).to.equal('Error: broken')
    expect(closed).to.equal(3)
  })
})
