import { expect } from 'chai'
import { soakArguments, soakHelp } from '../soak-arguments.ts'

const read = (...args: string[]) => soakArguments(args, () => 77)

describe('soakArguments', () => {
  it('takes one minute, twelve clients and a random seed where nothing else is said', () => {
    expect(read()).to.deep.equal({ minutes: 1, seed: 77, clients: 12 })
  })

  it('takes what is said', () => {
    const args = ['--minutes', '0.5', '--seed=5', '--clients', '30']
    expect(read(...args)).to.deep.equal({ minutes: 0.5, seed: 5, clients: 30 })
  })

  it('knows when help is asked for, which names every flag', () => {
    expect(read('--help')).to.equal(undefined)
    for (const flag of ['--minutes', '--seed', '--clients']) expect(soakHelp).to.include(flag)
  })

  for (const [args, problem] of [
    [['--minutes', 'ten'], /^--minutes must be a number from 0 to 10000; it is "ten"\.$/],
    [['--minutes', '-1'], /--minutes/],
    [['--seed', '1.5'], /^--seed must be a whole number from 0 to 2147483648; it is "1\.5"\.$/],
    [['--clients', '0'], /^--clients must be a whole number from 1 to 300; it is "0"\.$/],
    [['--client', '3'], /--client/],
    [['3'], /3/],
  ] as const) {
    it(`says what is wrong with ${args.join(' ')}`, () => {
      expect(() => read(...args)).to.throw(RangeError, problem)
    })
  }
})
