import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { withRepository } from '../../boundaries/test/fixture-repository.ts'

const root = join(import.meta.dirname, '../../..')
const one = 'packages/a/test/one.test.ts'
const other = 'packages/a/test/other.test.ts'
const files = {
  'package.json': '{"type":"module"}',
  'tsconfig.json': '{"files": [], "references": []}',
  'packages/a/src/answer.ts': 'export const answer: number = 41\n',
  [one]: `import { answer } from '../src/answer.ts'
    it('is right', () => { if (answer !== 42) throw new Error('wrong: ' + answer) })`,
  [other]: "it('is another matter', () => {})",
}

describe('watchTests', function () {
  this.timeout(120_000)

  it('runs again what a saved file concerns, and nothing else', async () => {
    await withRepository(files, async (folder) => {
      await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
      await copyFile(join(root, '.mocharc.json'), join(folder, '.mocharc.json'))
      const module = JSON.stringify(join(root, 'scripts/checks/watch-tests.ts'))
      const choice = JSON.stringify([folder, { files: [one, other], options: ['--watch'] }])
      const script = `import { watchTests } from ${module}
        process.once('SIGTERM', () => process.exit())
        await watchTests(...${choice})`
      const child = spawn(process.execPath, ['--input-type=module', '--eval', script])
      try {
        let output = ''
        const told = async (text: RegExp) => {
          while (!text.test(output)) {
            const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
            output += chunk.toString()
          }
        }
        await told(/1 passing[^]*1 failing[^]*wrong: 41/)
        // In one step, so that no run sees half of it; twice, since a new file has taken the place of the first one.
        for (const [answer, counts] of [
          [42, '1 passing'],
          [43, '1 failing'],
          [42, '1 passing'],
        ] as const) {
          output = ''
          await writeFile(join(folder, 'new.ts'), `export const answer: number = ${answer}\n`)
          await rename(join(folder, 'new.ts'), join(folder, 'packages/a/src/answer.ts'))
          await told(/1 of 2 files, .* after it was saved/)
          expect(output).to.include('== packages/a/src/answer.ts\n').and.include(counts)
        }
        const [, seconds] = /([\d.]+) s after/.exec(output) ?? []
        console.log(`figures: watch: ${seconds} s from a file's being saved to the result`)
      } finally {
        child.kill()
        await once(child, 'exit')
      }
    })
  })
})
