import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect } from 'chai'
import { withRepository } from '../../boundaries/test/fixture-repository.ts'
import { checkCommands } from '../check-commands.ts'

const bin = join(import.meta.dirname, '../../../node_modules/.bin')

function commandOf(title: string, named: readonly string[]): readonly string[] {
  return checkCommands(named).find((check) => check.title === title)?.command ?? []
}

/** Whether prettier, as the checks run it in `root`, finds everything formatted. */
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

  it('runs the same checks whatever is named', () => {
    const titles = (named: readonly string[]) => checkCommands(named).map((check) => check.title)
    expect(titles(['packages/a'])).to.deep.equal(titles([]))
  })
})
