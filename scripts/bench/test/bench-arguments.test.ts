import { expect } from 'chai'
import { benchArguments, benchHelp } from '../bench-arguments.ts'

const known = ['get-small', 'get-large', 'upload']
const read = (...args: string[]) => benchArguments(args, known)

describe('benchArguments', () => {
  it('takes all scenarios and servers, fifteen rounds, and prints only, where nothing else is said', () => {
    expect(read()).to.deep.equal({
      scenarios: known,
      subjects: undefined,
      rounds: 15,
      isQuick: false,
      out: undefined,
      against: undefined,
      instead: undefined,
    })
  })

  it('takes what is said', () => {
    const args = read('--only', 'upload', '--subjects', 'holdfast,nginx', '--rounds', '3')
    expect(args).to.include({ rounds: 3 })
    expect(args.scenarios).to.deep.equal(['upload'])
    expect(args.subjects).to.deep.equal(['holdfast', 'nginx'])
    expect(read('--out', 'docs', '--against=/old')).to.include({ out: 'docs', against: '/old' })
  })

  it('takes patterns, and keeps the order in which scenarios are run', () => {
    expect(read('--only', 'upload, get-*').scenarios).to.deep.equal(known)
    expect(read('--only', 'get-*').scenarios).to.deep.equal(['get-small', 'get-large'])
  })

  it('takes one round where it is to be quick, unless more are asked for', () => {
    expect(read('--quick')).to.include({ isQuick: true, rounds: 1 })
    expect(read('--quick', '--rounds', '2')).to.include({ isQuick: true, rounds: 2 })
  })

  it('knows what is asked for instead of a run, and help names every flag', () => {
    expect(read('--help').instead).to.equal('help')
    expect(read('--list').instead).to.equal('list')
    expect(read('--render', '--out', 'docs').instead).to.equal('render')
    const flags = ['only', 'subjects', 'rounds', 'quick', 'against', 'out', 'render', 'list']
    for (const flag of flags) expect(benchHelp).to.include(`--${flag}`)
  })

  for (const [args, problem] of [
    [
      ['--only', 'get'],
      /^--only: no scenario is called "get"; there are get-small, get-large, upl/,
    ],
    [['--rounds', '0'], /^--rounds must be a whole number from 1 to 100; it is "0"\.$/],
    [['--render'], /^--render needs --out/],
    [['--round', '3'], /--round/],
    [['get-small'], /get-small/],
  ] as const) {
    it(`says what is wrong with ${args.join(' ')}`, () => {
      expect(() => read(...args)).to.throw(RangeError, problem)
    })
  }
})
