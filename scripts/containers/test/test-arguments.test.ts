import { expect } from 'chai'
import { makeMachine, type Machine } from './machine.ts'

describe('The arguments of scripts/test', function () {
  this.timeout(60_000)
  let machine: Machine
  afterEach(() => machine.remove())

  const refused: readonly (readonly [string[], RegExp])[] = [
    [['pakages/core'], /^test: there is no pakages\/core\. Paths begin at /],
    [['packages/core/a.test.ts'], /there is no packages\/core\/a\.test\.ts/],
    [['packages/*/no/*.test.ts'], /there is no packages/],
    [['packages/core/package.json'], /package\.json is no test file/],
    [['packages/core', '--gerp', 'a'], /there is no option --gerp; scripts\/test --help/],
    [['--job=1'], /there is no option --job;/],
    [['--since', 'mian'], /--since mian: git knows no such commit\./],
    [['--since=mian'], /--since mian: git knows no such commit\./],
    [['packages/core', '--grep'], /--grep needs a value: --grep PATTERN\./],
  ]
  for (const [args, message] of refused) {
    it(`refuses ${args.join(' ')} before it looks at the machine`, async () => {
      machine = await makeMachine()
      await machine.uninstall('curl')
      await machine.install('git', '[[ $* != *mian* ]]')
      const { code, stdout, stderr } = await machine.start(args).outcome
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' })
      expect(stderr)
        .to.match(message)
        .and.match(/^[^\n]+\n$/)
    })
  }

  it('takes values of options for what they are, and patterns', async () => {
    machine = await makeMachine()
    const args = ['packages/**/package.test.ts', '--grep', 'no/such path', '--jobs=2', '-f', '-x']
    await machine.leaveFile('packages/core/package.test.ts')
    const nothing = { NEEDS: 'none' }
    const { code, stderr } = await machine.start(args, nothing).outcome
    expect(code, stderr).to.equal(0)
  })
})
