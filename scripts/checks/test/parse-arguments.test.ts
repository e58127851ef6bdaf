import { availableParallelism } from 'node:os'
import { expect } from 'chai'
import { parseArguments } from '../parse-arguments.ts'

describe('parseArguments', () => {
  it('has more lanes than processors, and nothing else, where nothing is said', () => {
    const { lanes, ...rest } = parseArguments([])
    expect(lanes).to.be.above(availableParallelism())
    expect(rest).to.deep.equal({
      paths: [],
      options: [],
      all: false,
      coverage: false,
      flaky: false,
      watch: false,
      since: undefined,
    })
  })

  it('tells own options, options for mocha and paths apart, wherever they stand', () => {
    const args = ['--all', 'packages/core', '--grep', 'packages/core', '--jobs', '3', '--bail', 'b']
    expect(parseArguments([...args, '--since', 'HEAD~1', '--watch'])).to.deep.include({
      paths: ['packages/core', 'b'],
      options: ['--grep', 'packages/core', '--bail'],
      all: true,
      watch: true,
      since: 'HEAD~1',
      lanes: 3,
    })
  })

  it('takes a value behind an equals sign, which it may contain', () => {
    const args = ['--jobs=1', '--grep=a=b', '--since=v1']
    expect(parseArguments(args)).to.deep.include({ lanes: 1, options: ['--grep=a=b'], since: 'v1' })
  })

  it('refuses what is no number of jobs', () => {
    for (const args of [['--jobs'], ['--jobs', '0'], ['--jobs=1.5'], ['--jobs', 'many']]) {
      expect(() => parseArguments(args)).to.throw('--jobs wants a number')
    }
  })
})
