import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { mergeResults, readResults } from '../report/results.ts'
import { resultOf, row } from './result-fixtures.ts'

describe('mergeResults', () => {
  it('replaces what was measured anew, and keeps the rest as it was', () => {
    const earlier = [resultOf('a', [], { commit: 'old' }), resultOf('b', [], { commit: 'old' })]
    const newer = [resultOf('c', [], { commit: 'new' }), resultOf('b', [], { commit: 'new' })]
    const merged = mergeResults(['a', 'b', 'c', 'd'], earlier, newer)
    expect(merged.map(({ scenario, commit }) => `${scenario} ${commit}`)).to.deep.equal([
      'a old',
      'b new',
      'c new',
    ])
  })

  it('drops scenarios that there are no more', () => {
    expect(mergeResults(['b'], [resultOf('a', [])], [])).to.deep.equal([])
  })
})

describe('readResults', () => {
  it('brings none where there is no file', async () => {
    expect(await readResults('/no/such/results.json')).to.deep.equal([])
  })

  it('leaves out what was no number when it was written', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-results-'))
    const file = join(folder, 'results.json')
    const rows = [row('holdfast', 'GET', { perSecond: 0, p99Ms: NaN })]
    await writeFile(file, JSON.stringify([resultOf('a', rows)]))
    const [result] = await readResults(file)
    expect(result?.rows[0]?.figures).to.deep.equal({ perSecond: 0 })
    await rm(folder, { recursive: true })
  })
})
