import { availableParallelism } from 'node:os'
import { expect } from 'chai'
import { lanesFor } from '../lanes-for.ts'

describe('lanesFor', () => {
  it('has more lanes than processors', () => {
    expect(lanesFor(['packages/core']).lanes).to.be.above(availableParallelism())
  })

  it('takes --jobs from among the arguments', () => {
    const args = ['packages/core', '--bail']
    expect(lanesFor(['packages/core', '--jobs', '3', '--bail'])).to.deep.equal({ lanes: 3, args })
    expect(lanesFor(['--jobs=1', ...args])).to.deep.equal({ lanes: 1, args })
  })

  it('refuses what is no number of jobs', () => {
    for (const args of [['--jobs'], ['--jobs', '0'], ['--jobs=1.5'], ['--jobs', 'many']]) {
      expect(() => lanesFor(args)).to.throw('--jobs wants a number')
    }
  })
})
