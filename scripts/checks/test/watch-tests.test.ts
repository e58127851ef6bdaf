import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { copyFile, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { until } from '../../../packages/testing/src/until.ts'
import { withRepository } from '../../boundaries/test/fixture-repository.ts'

const root = join(import.meta.dirname, '../../..')
const one = 'packages/a/test/one.test.ts'
const other = 'packages/a/test/other.test.ts'
const files = {
  'package.json': '{"type":"module"}',
  'tsconfig.json': '{"files": [], "references": [{ "path": "packages/b" }]}',
  'packages/b/package.json':
    '{"exports":{".":{"types":"./dist/index.d.ts","default":"./dist/index.js"}}}',
  'packages/b/tsconfig.json': JSON.stringify({
    compilerOptions: {
      composite: true,
      emitDeclarationOnly: true,
      rootDir: 'src',
      outDir: 'dist',
      tsBuildInfoFile: 'dist/.tsbuildinfo',
      lib: ['es2024'],
      types: [],
    },
    include: ['src'],
  }),
  'packages/b/src/index.ts': 'export const built: number = 1\n',
  'packages/a/src/answer.ts': 'export const answer: number = 41\n',
  [one]: `import { answer } from '../src/answer.ts'
    it('is right', () => { if (answer !== 42) throw new Error('wrong: ' + answer) })`,
  [other]: "it('is another matter', () => {})",
}

describe('watchTests', function () {
  this.timeout(120_000)

  it('runs again what a saved file concerns, and nothing else', async () => {
    await withWatch(async (watching) => {
      await watching.told(/1 passing[^]*1 failing[^]*wrong: 41/)
      // In one step, so that no run sees half of it; twice, since a new file has taken the place of the first one.
      for (const [answer, counts] of [
        [42, '1 passing'],
        [43, '1 failing'],
        [42, '1 passing'],
      ] as const) {
        watching.output = ''
        await writeFile(
          join(watching.folder, 'new.ts'),
          `export const answer: number = ${answer}\n`,
        )
        await rename(
          join(watching.folder, 'new.ts'),
          join(watching.folder, 'packages/a/src/answer.ts'),
        )
        await watching.told(/1 of 2 files, .* after it was saved/)
        expect(watching.output).to.include('== packages/a/src/answer.ts\n').and.include(counts)
      }
      const [, seconds] = /([\d.]+) s after/.exec(watching.output) ?? []
      console.log(`figures: watch: ${seconds} s from a file's being saved to the result`)
    })
  })

  it('builds again what is saved in another package, and reports its wrong types', async () => {
    await withWatch(async ({ folder, told }) => {
      const source = join(folder, 'packages/b/src/index.ts')
      await told(/1 failing/)
      // The compiler would take what is saved now as built: it has read the source, and has not yet written its record.
      const isBuilt = () => existsSync(join(folder, 'packages/b/dist/.tsbuildinfo'))
      await until('the first build nearly ends', isBuilt)
      await writeFile(source, "export const built: number = 'three'\n")
      await told(/packages\/b\/src\/index\.ts.* error TS2322/)
      expect(await readFile(join(folder, 'packages/b/dist/index.js'), 'utf8')).to.include('three')
    })
  })
})

interface Watching {
  readonly folder: string
  /** What was printed; a test may empty it. */
  output: string
  /** Resolves when `text` has been printed. */
  readonly told: (text: RegExp) => Promise<void>
}

/** Runs `use` while a process watches the tests of `files`. */
async function withWatch(use: (watching: Watching) => Promise<void>): Promise<void> {
  await withRepository(files, async (folder) => {
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    await copyFile(join(root, '.mocharc.json'), join(folder, '.mocharc.json'))
    const module = JSON.stringify(join(root, 'scripts/checks/watch-tests.ts'))
    const choice = JSON.stringify([folder, { files: [one, other], options: ['--watch'] }])
    const script = `import { watchTests } from ${module}
      process.once('SIGTERM', () => process.exit())
      await watchTests(...${choice})`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script])
    const watching: Watching = {
      folder,
      output: '',
      async told(text) {
        while (!text.test(watching.output)) await once(child.stdout, 'data')
      },
    }
    child.stdout.on('data', (chunk: Buffer) => (watching.output += chunk.toString()))
    try {
      await use(watching)
    } finally {
      child.kill()
      await once(child, 'exit')
    }
  })
}
