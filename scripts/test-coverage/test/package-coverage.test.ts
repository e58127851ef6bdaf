import { expect } from 'chai'
import { coverageProblems, packageCoverage } from '../package-coverage.ts'

const file = (lines: number, branches = lines, functions = lines) => ({
  lines: { total: 100, covered: lines },
  branches: { total: 10, covered: branches / 10 },
  functions: { total: 3, covered: Math.round(functions / 33) },
})
const all = (percent: number) => ({ lines: percent, branches: percent, functions: percent })

describe('packageCoverage', () => {
  it('adds up the files of each package, and no others', () => {
    const summary = {
      total: file(50),
      '/r/packages/core/src/a.ts': file(100),
      '/r/packages/core/src/deep/b.ts': file(50),
      '/r/packages/server/src/a.ts': file(90, 100),
      '/elsewhere/packages/other/src/a.ts': file(0),
    }
    expect(packageCoverage('/r', summary)).to.deep.equal({
      core: { lines: 75, branches: 75, functions: 83.3 },
      server: { lines: 90, branches: 100, functions: 100 },
    })
  })

  it('calls nothing 100 % that is not whole, and what is empty whole', () => {
    const lines = { total: 10_000, covered: 9999 }
    const nothing = { total: 0, covered: 0 }
    const summary = { '/r/packages/a/src/a.ts': { lines, branches: nothing, functions: nothing } }
    expect(packageCoverage('/r', summary)['a']).to.deep.equal({ ...all(100), lines: 99.9 })
  })
})

describe('coverageProblems', () => {
  it('has none where all is at its floor or above', () => {
    expect(coverageProblems({ a: all(90) }, { a: { ...all(90), lines: 95 } })).to.deep.equal([])
  })

  it('names what is below by more than runs of one commit differ', () => {
    const found = { a: { lines: 90, branches: 89.4, functions: 89.5 } }
    expect(coverageProblems({ a: all(90) }, found)).to.deep.equal([
      'a: 89.4 % of its branches, and 90 is the floor',
    ])
  })

  it('wants a floor for each package, and a package for each floor', () => {
    const [missing, gone] = coverageProblems({ gone: all(1) }, { fresh: all(1) }).toSorted()
    expect(missing).to.match(/^fresh has no floor/)
    expect(gone).to.match(/^gone has a floor/)
  })
})
