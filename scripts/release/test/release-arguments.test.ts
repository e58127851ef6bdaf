import { expect } from 'chai'
import { releaseArguments, releaseHelp } from '../release-arguments.ts'

const read = (...args: string[]) => releaseArguments(args, '/releases')

describe('releaseArguments', () => {
  it('takes a version, and a folder for it', () => {
    const said = { version: '1.2.0-rc.1', isToBeSet: false, isDraft: false }
    expect(read(said.version)).to.deep.equal({ ...said, out: `/releases/${said.version}` })
    expect(read('--out', '/a', said.version)).to.deep.equal({ ...said, out: '/a' })
  })

  it('takes a draft', () => {
    expect(read('0.1.0', '--draft')).to.deep.include({ version: '0.1.0', isDraft: true })
  })

  it('takes a version to be set', () => {
    expect(read('--set', '2.0.0')).to.deep.include({ version: '2.0.0', isToBeSet: true })
  })

  it('knows when help is asked for, which names every flag', () => {
    expect(read('--help')).to.equal(undefined)
    for (const flag of ['--set', '--out', '--draft']) expect(releaseHelp).to.include(flag)
  })

  for (const [args, problem] of [
    [[], /^Which version\?/],
    [['1.2'], /^A version is three numbers, such as .*, not "1\.2"\.$/],
    [['v1.2.0'], /not "v1\.2\.0"/],
    [['01.2.0'], /not "01\.2\.0"/],
    [['../1.2.0'], /not/],
    [['1.2.0', '1.3.0'], /^One version is enough; 1\.3\.0 is too many\.$/],
    [['--set', '1.2.0', '1.3.0'], /1\.3\.0/],
    [['--publish', '1.2.0'], /--publish/],
  ] as const) {
    it(`says what is wrong with "${args.join(' ')}"`, () => {
      expect(() => read(...args)).to.throw(RangeError, problem)
    })
  }
})
