import { expect } from 'chai'
import { withRepository } from '../../boundaries/test/fixture-repository.ts'
import { chooseTests, type Choice } from '../choose-tests.ts'
import { flakyTests } from '../flaky-tests.ts'
import { parseArguments } from '../parse-arguments.ts'

const a = 'packages/a/test/a.test.ts'
const deep = 'packages/a/test/deep/b.test.ts'
const script = 'scripts/checks/test/c.test.ts'

/** What is chosen of some tests, and of other files that are none of ours. */
async function choose(...args: string[]): Promise<Choice> {
  const others = ['packages/a/src/a.ts', 'packages/a/node_modules/x/test/x.test.ts']
  const files = Object.fromEntries([a, deep, script, ...others].map((path) => [path, '']))
  return withRepository(files, async (root) => chooseTests(root, parseArguments(args), false))
}

describe('chooseTests', () => {
  it('takes all tests where nothing is named', async () => {
    const all = {
      files: [a, deep, script],
      options: [],
      named: [],
      leftOut: [],
      isWhole: true,
    }
    expect(await choose()).to.deep.equal(all)
  })

  it('takes the tests below a folder, and only those', async () => {
    expect((await choose('packages/a')).files).to.deep.equal([a, deep])
    expect((await choose('scripts/checks/')).files).to.deep.equal([script])
    expect((await choose('packages/a/src')).files).to.deep.equal([])
  })

  it('takes a file as it is named, also one that is missing, and each once', async () => {
    expect((await choose(deep)).files).to.deep.equal([deep])
    expect((await choose('no.test.ts')).files).to.deep.equal(['no.test.ts'])
    expect((await choose(deep, 'packages/a')).files).to.deep.equal([deep, a])
  })

  it('says what is named', async () => {
    const { named } = await choose('packages/a', '--grep', 'a', deep)
    expect(named).to.deep.equal(['packages/a', deep])
  })

  it('says whether these are all tests', async () => {
    expect((await choose('--jobs', '1')).isWhole).to.equal(true)
    for (const part of ['packages/a', '--grep=a', '--flaky']) {
      expect((await choose(part)).isWhole, part).to.equal(false)
    }
  })

  it('understands a pattern that the shell has left', async () => {
    expect((await choose('packages/*/test/*.test.ts')).files).to.deep.equal([a])
  })

  it('passes options on, for all tests or for those named', async () => {
    const grep = ['--grep', 'keeps the old file']
    expect(await choose(...grep)).to.deep.include({ files: [a, deep, script], options: grep })
    expect(await choose('--require', './scripts/setup.ts', deep, '--bail')).to.deep.include({
      files: [deep],
      options: ['--require', './scripts/setup.ts', '--bail'],
    })
  })

  it('leaves out what takes long, unless it is named, all are asked for, or CI asks', async () => {
    const [long, longer] = ['packages/a/test/b.long.test.ts', 'packages/long/test/longer.test.ts']
    const files = { [a]: '', [long]: '', [longer]: '' }
    await withRepository(files, async (root) => {
      const [some, all] = [
        [a, longer],
        [a, long, longer],
      ]
      const choose = (root: string, ...args: string[]) =>
        chooseTests(root, parseArguments(args), false)
      expect(choose(root)).to.deep.include({ files: some, leftOut: [long] })
      expect(choose(root, '--bail').leftOut).to.deep.equal([long])
      const asked = { files: all, options: [], named: [], leftOut: [], isWhole: true }
      expect(choose(root, '--all')).to.deep.equal(asked)
      expect(chooseTests(root, parseArguments([]), true)).to.deep.equal(asked)
      expect(choose(root, 'packages/a').files).to.deep.equal([a, long])
    })
  })

  it('takes the files that are known to fail by chance, or those that are named', async () => {
    const known = flakyTests.map(({ file }) => file)
    expect((await choose('--flaky')).files).to.deep.equal(known)
    expect((await choose('--flaky', deep)).files).to.deep.equal([deep])
  })
})
