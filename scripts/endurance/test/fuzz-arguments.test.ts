import { expect } from 'chai'
import { fuzzArguments, fuzzHelp } from '../fuzz-arguments.ts'

const known = ['forms', 'names', 'ranges']
const read = (...args: string[]) => fuzzArguments(args, known, () => 77)

describe('fuzzArguments', () => {
  it('takes 100,000 inputs, all targets and a random seed where nothing else is said', () => {
    expect(read()).to.deep.equal({ runs: 100_000, seed: 77, targets: known, path: undefined })
  })

  it('takes what is said', () => {
    const args = ['--runs', '5', '--seed=6', '--target', 'names', '--target', 'forms']
    expect(read(...args)).to.deep.equal({
      runs: 5,
      seed: 6,
      targets: ['names', 'forms'],
      path: undefined,
    })
  })

  it('takes the place of a finding', () => {
    const args = ['--target', 'names', '--seed', '0', '--path', '12:0:3']
    expect(read(...args)).to.include({ seed: 0, path: '12:0:3' })
  })

  it('knows when help is asked for, which names every flag and target', () => {
    expect(read('--help')).to.equal(undefined)
    for (const word of ['--runs', '--seed', '--target', '--path', ...known]) {
      expect(fuzzHelp(known)).to.include(word)
    }
  })

  for (const [args, problem] of [
    [['--runs', '0'], /^--runs must be a whole number from 1 to 1000000000; it is "0"\.$/],
    [['--runs', '1e3'], /--runs/],
    [['--seed', '-1'], /--seed/],
    [['--target', 'form'], /^--target must be one of forms, names, ranges; it is "form"\.$/],
    [['--target', 'names', '--seed', '1', '--path', 'x'], /^--path must be numbers with colons/],
    [['--target', 'names', '--path', '1:2'], /^--path needs the --seed and the one --target/],
    [['--seed', '1', '--path', '1:2'], /^--path needs/],
    [['--run', '3'], /--run/],
    [['3'], /3/],
  ] as const) {
    it(`says what is wrong with ${args.join(' ')}`, () => {
      expect(() => read(...args)).to.throw(RangeError, problem)
    })
  }
})
