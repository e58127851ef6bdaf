import { expect } from 'chai'
import { usageTable } from '../../src/usage.ts'

const alice = {
  customer: 'alice',
  files: 1,
  bytes: 999,
  unfinished: { uploads: 0, bytes: 0 },
  quota: 1_000,
  maxFiles: undefined,
  isListed: true,
}

describe('usageTable', () => {
  it('is only a heading without customers', () => {
    expect(usageTable([])).to.deep.equal(['files  size  quota  used  customer'])
  })

  it('has no sum for one customer', () => {
    expect(usageTable([alice])).to.deep.equal([
      'files   size    quota  used  customer',
      '    1  999 B  1.00 kB   99%  alice',
    ])
  })

  it('shows of how many files a customer has so many', () => {
    expect(usageTable([{ ...alice, maxFiles: 20 }])).to.deep.equal([
      'files   size    quota  used  customer',
      ' 1/20  999 B  1.00 kB   99%  alice',
    ])
  })

  it('has a column for unfinished uploads where there are any', () => {
    const unfinished = { uploads: 12, bytes: 0 }
    const lines = usageTable([alice, { ...alice, customer: 'bob', unfinished }])
    expect(lines).to.deep.equal([
      'files     size  unfinished    quota  used  customer',
      '    1    999 B           -  1.00 kB   99%  alice',
      '    1    999 B   12 of 0 B  1.00 kB   99%  bob',
      '    2  2.00 kB   12 of 0 B                 2 customers in all',
    ])
  })

  it('rounds down, so that 100% means no room, and shows what is less than 1%', () => {
    const used = (bytes: number) => usageTable([{ ...alice, bytes }])[1]?.split(/ {2,}/)[4]
    expect([0, 1, 999, 1_000, 2_500].map(used)).to.deep.equal(['0%', '<1%', '99%', '100%', '250%'])
  })

  it('shows a terminal nothing that it would take for a command', () => {
    const [, line] = usageTable([{ ...alice, customer: 'a\u001b[2J\u202eb' }])
    expect(line).to.match(/ a\\u\{1b\}\[2J\\u\{202e\}b$/)
  })
})
