import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { withRepository } from '../../boundaries/test/fixture-repository.ts'
import { affectedSince, changedSince } from '../tests-since.ts'

const exports = JSON.stringify({ exports: { '.': { types: './dist/index.d.ts' } } })
const [near, far, command, reader] = [
  'packages/a/test/near.test.ts',
  'packages/b/test/far.test.ts',
  'packages/b/test/command.test.ts',
  'packages/b/test/reader.test.ts',
]
const tests = [near, far, command, reader]
const files = {
  [near]: "import '../src/deep/own.ts'\n",
  [far]: "import './support.ts'\n",
  [command]: "import { startHoldfast } from '@holdfast/testing'\n",
  [reader]: "read('docs/api.md')\n",
  'packages/a/package.json': exports,
  'packages/a/src/index.ts': "export * from './deep/own.ts'\n",
  'packages/a/src/deep/own.ts': '',
  'packages/a/src/thread.ts': '',
  'packages/b/test/support.ts': "import '@holdfast/a'\n",
  'packages/b/test/sample.json': '',
  'packages/holdfast/src/main.ts': "import '@holdfast/a'\n",
}

/** Which of the tests the changes concern. */
function affected(...changed: readonly string[]): Promise<string[]> {
  return withRepository(files, async (root) => affectedSince(root, tests, changed))
}

describe('affectedSince', () => {
  it('has what imports a file, those that import its package, and those that start the command', async () => {
    expect(await affected('packages/a/src/deep/own.ts')).to.deep.equal([near, far, command])
    expect(await affected('packages/b/test/support.ts')).to.deep.equal([far])
    expect(await affected(near)).to.deep.equal([near])
  })

  it('has them for a source that no file imports, such as that of a thread', async () => {
    expect(await affected('packages/a/src/thread.ts')).to.deep.equal([far, command])
  })

  it('has what names a document, and all of a package where none does', async () => {
    expect(await affected('docs/api.md')).to.deep.equal([reader])
    expect(await affected('docs/unknown.md')).to.deep.equal([])
    expect(await affected('packages/b/test/sample.json')).to.deep.equal([far, command, reader])
  })

  it('has all where libraries or options of the compiler change', async () => {
    for (const path of ['pnpm-lock.yaml', 'package.json', 'tsconfig.base.json']) {
      expect(await affected(path), path).to.deep.equal(tests)
    }
  })
})

describe('changedSince', () => {
  it('has what differs from a commit, uncommitted and new files, and nothing that git ignores', async () => {
    const repository = { 'a.ts': '', 'b.ts': '', '.gitignore': 'ignored\n' }
    await withRepository(repository, async (root) => {
      const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: root })
      const commit = (message: string) => {
        git('add', '--all')
        git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '-m', message)
      }
      git('init', '--quiet')
      commit('one')
      await writeFile(join(root, 'a.ts'), '1')
      commit('two')
      await writeFile(join(root, 'b.ts'), '1')
      await writeFile(join(root, 'name with ä.ts'), '1')
      await writeFile(join(root, 'ignored'), '1')
      expect(changedSince(root, 'HEAD')).to.deep.equal(['b.ts', 'name with ä.ts'])
      expect(changedSince(root, 'HEAD~1')).to.deep.equal(['a.ts', 'b.ts', 'name with ä.ts'])
      expect(() => changedSince(root, 'nothing')).to.throw(
        '--since nothing: git knows no such commit',
      )
      expect(() => changedSince(root, '--output=x')).to.throw('git knows no such commit')
    })
  })
})
