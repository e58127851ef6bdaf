import { expect } from 'chai'
import { powercutArguments, powercutHelp } from '../powercut-arguments.ts'

const read = (...args: string[]) => powercutArguments(args, () => 77)

describe('powercutArguments', () => {
  it('takes sixteen cuts, a random seed and all file systems where nothing else is said', () => {
    const fileSystems = ['ext4', 'xfs', 'btrfs']
    expect(read()).to.deep.equal({
      ...{ cuts: 16, seed: 77, fileSystems },
      keepsReplaced: false,
    })
  })

  it('takes what is said', () => {
    const args = ['--cuts', '300', '--seed=5', '--file-system', 'xfs', '--keep']
    expect(read(...args)).to.deep.equal({
      ...{ cuts: 300, seed: 5, fileSystems: ['xfs'] },
      keepsReplaced: true,
    })
  })

  it('knows when help is asked for, which names every flag', () => {
    expect(read('--help')).to.equal(undefined)
    for (const flag of ['--cuts', '--seed', '--file-system', '--keep']) {
      expect(powercutHelp).to.include(flag)
    }
  })

  for (const [args, problem] of [
    [['--cuts', '0'], /^--cuts must be a whole number from 1 to 1000000; it is "0"\.$/],
    [['--cuts', '1.5'], /--cuts/],
    [['--seed', '-1'], /--seed/],
    [['--file-system', 'ntfs'], /^--file-system must be one of ext4, xfs, btrfs; it is "ntfs"\.$/],
    [['--cut', '3'], /--cut/],
    [['3'], /3/],
  ] as const) {
    it(`says what is wrong with ${args.join(' ')}`, () => {
      expect(() => read(...args)).to.throw(RangeError, problem)
    })
  }
})
