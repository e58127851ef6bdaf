import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { withRepository } from '../../boundaries/test/fixture-repository.ts'
import { checkCommands } from '../check-commands.ts'

const root = join(import.meta.dirname, '../../..')
const bin = join(root, 'node_modules/.bin')

function commandOf(title: string, named: readonly string[]): readonly string[] {
  return checkCommands(named).find((check) => check.title === title)?.command ?? []
}

/** Whether the formatter, as the checks run it in `root`, finds everything formatted. */
function isFormatted(root: string, named: readonly string[]): boolean {
  const [program = '', ...args] = commandOf('format', named)
  try {
    execFileSync(join(bin, program), args, { cwd: root, stdio: 'pipe' })
    return true
  } catch {
    return false
  }
}

describe('checkCommands', () => {
  it('has linter and formatter look at everything if nothing is named', () => {
    for (const title of ['lint', 'format']) expect(commandOf(title, []).at(-1)).to.equal('.')
  })

  it('has them look at what is named, and at nothing else', async () => {
    const files = { 'packages/a/ugly.ts': 'const  a=1', 'packages/b/fine.ts': 'const b = 1;\n' }
    await withRepository(files, async (root) => {
      expect(isFormatted(root, [])).to.equal(false)
      expect(isFormatted(root, ['packages/a'])).to.equal(false)
      expect(isFormatted(root, ['packages/b'])).to.equal(true)
      expect(isFormatted(root, ['packages/b/fine.ts'])).to.equal(true)
    })
    expect(commandOf('lint', ['packages/a', 'x.ts']).slice(-2)).to.deep.equal([
      'packages/a',
      'x.ts',
    ])
  })

  it('finds nothing wrong in a folder without sources', async () => {
    await withRepository({ 'docs/picture.bin': '' }, async (root) => {
      expect(isFormatted(root, ['docs'])).to.equal(true)
    })
  })

  it('checks the types of all tests if nothing is named, or tests of several packages', () => {
    for (const named of [
      [],
      ['packages'],
      ['docs'],
      ['packages/a', 'packages/b'],
      ['packages/a', 'scripts'],
    ]) {
      expect(commandOf('types of the tests', named)).to.include('tsconfig.test.json')
    }
  })

  it('checks the types of one package, or of the scripts, if nothing else is named', () => {
    const project = (...named: string[]) => commandOf('types of the tests', named)[2]
    expect(project('packages/a')).to.equal('packages/a/test')
    expect(project('packages/a/')).to.equal('packages/a/test')
    expect(project('packages/a/test/b/c.test.ts', 'packages/a/src')).to.equal('packages/a/test')
    expect(project('scripts/checks')).to.equal('scripts')
  })

  it('has a project of types for every package with tests', () => {
    const folders = globSync('packages/*/test', { cwd: root })
    const projects = globSync('packages/*/test/tsconfig.json', { cwd: root }).map(dirname)
    expect(folders).to.have.length.above(10).and.to.have.members(projects)
  })

  it('runs the same checks whatever is named', () => {
    const titles = (named: readonly string[]) => checkCommands(named).map((check) => check.title)
    expect(titles(['packages/a'])).to.deep.equal(titles([]))
  })
})
