import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { withRepository } from '../../boundaries/test/fixture-repository.ts'

const root = join(import.meta.dirname, '../../..')
const compilerOptions = {
  composite: true,
  emitDeclarationOnly: true,
  declarationMap: true,
  rewriteRelativeImportExtensions: true,
  rootDir: 'src',
  outDir: 'dist',
  tsBuildInfoFile: 'dist/.tsbuildinfo',
  module: 'nodenext',
  lib: ['es2024'],
  types: ['node'],
}
const exported = (name: string, source: string) => ({
  [name]: {
    types: `./dist/${source}.d.ts`,
    default: `./dist/${name === '.' ? 'index' : name.slice(2)}.js`,
  },
})
const files = {
  'tsconfig.json': '{"files": [], "references": [{ "path": "packages/a" }]}',
  'packages/a/package.json': JSON.stringify({
    type: 'module',
    exports: { ...exported('.', 'index'), ...exported('./part', 'part/index') },
  }),
  'packages/a/tsconfig.json': JSON.stringify({ compilerOptions, include: ['src'] }),
  'packages/a/src/index.ts': `import { EventEmitter } from 'node:events'
import { count } from './count.ts'
export const first: number = count()
export const isEmitter = (one: unknown): boolean => one instanceof EventEmitter
`,
  'packages/a/src/part/index.ts': `import { count } from '../count.ts'
export const second: number = count()
`,
  'packages/a/src/count.ts': `let calls = 0
export const count = (): number => ++calls
`,
  'packages/a/dist/count.js': 'of an older build',
}

interface Built {
  readonly dist: string
  readonly run: () => { readonly code: number | null; readonly output: string }
}

/** Builds the packages of `files`, of which some may be others, and runs `use` on them. */
function withBuilt(use: (built: Built) => Promise<void>, others: Record<string, string> = {}) {
  return withRepository({ ...files, ...others }, async (folder) => {
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    const script = join(root, 'scripts/build-packages.ts')
    const run = () => {
      const done = spawnSync(process.execPath, [script], { cwd: folder, encoding: 'utf8' })
      return { code: done.status, output: done.stdout + done.stderr }
    }
    await use({ dist: join(folder, 'packages/a/dist'), run })
  })
}

describe('build-packages', () => {
  it('makes one module of each export, what they share exists once, and others stay outside', async () => {
    await withBuilt(async ({ dist, run }) => {
      expect(run()).to.deep.equal({ code: 0, output: '' })
      const modules = (await readdir(dist)).filter((name) => name.endsWith('.js'))
      expect(modules).to.have.lengthOf(3).and.include.members(['index.js', 'part.js'])
      const { first } = (await import(join(dist, 'index.js'))) as { first: number }
      const { second } = (await import(join(dist, 'part.js'))) as { second: number }
      expect([first, second]).to.deep.equal([1, 2])
      expect(await readFile(join(dist, 'index.js'), 'utf8')).to.include('from "node:events"')
    })
  })

  it('leads from what runs to the sources', async () => {
    await withBuilt(async ({ dist, run }) => {
      run()
      const map = await readFile(join(dist, 'index.js.map'), 'utf8')
      expect((JSON.parse(map) as { sources: unknown }).sources).to.deep.equal(['../src/index.ts'])
      expect(await readFile(join(dist, 'index.d.ts.map'), 'utf8')).to.include('../src/index.ts')
    })
  })

  it('removes modules of an older build, and touches no file that stays the same', async () => {
    await withBuilt(async ({ dist, run }) => {
      run()
      expect(existsSync(join(dist, 'count.js'))).to.equal(false)
      const timeOf = async (name: string) => (await stat(join(dist, name))).mtimeMs
      const [index, part] = [await timeOf('index.js'), await timeOf('part.js')]
      const source = `import { count } from '../count.ts'\nexport const third: number = count()\n`
      await writeFile(join(dist, '../src/part/index.ts'), source)
      run()
      expect(await timeOf('index.js')).to.equal(index)
      expect(await timeOf('part.js')).not.to.equal(part)
    })
  })

  it('reports a wrong type, and builds what runs all the same', async () => {
    const wrong = "export const second: number = 'three'\n"
    await withBuilt(
      async ({ dist, run }) => {
        const { code, output } = run()
        expect(code).to.equal(1)
        expect(output).to.match(/packages\/a\/src\/part\/index\.ts.* error TS2322/)
        expect(await readFile(join(dist, 'part.js'), 'utf8')).to.include('three')
      },
      { 'packages/a/src/part/index.ts': wrong },
    )
  })

  it('builds what was saved during the build before', async () => {
    await withBuilt(async ({ dist, run }) => {
      expect(run().code).to.equal(0)
      const source = join(dist, '../src/part/index.ts')
      await writeFile(source, "export const second: number = 'three'\n")
      // As if it had been saved when the compiler wrote the types.
      const { mtime } = await stat(join(dist, 'part/index.d.ts'))
      await utimes(source, mtime, mtime)
      expect(run().output).to.match(/packages\/a\/src\/part\/index\.ts.* error TS2322/)
    })
  })

  it('makes a validator of a schema, beside it', async () => {
    const source = "export const thingSchema = { type: 'array', maxItems: 2 }\n"
    const index = "export { validate } from './data/thing-validator.ts'\n"
    await withBuilt(
      async ({ dist, run }) => {
        expect(run()).to.deep.equal({ code: 0, output: '' })
        const { validate } = (await import(join(dist, 'index.js'))) as {
          validate: (data: unknown) => boolean
        }
        expect([[], [1, 2], [1, 2, 3], {}].map(validate)).to.deep.equal([true, true, false, false])
      },
      { 'packages/a/src/data/thing-schema.ts': source, 'packages/a/src/index.ts': index },
    )
  })

  it('reports a source that cannot be read', async () => {
    await withBuilt(
      async ({ run }) => {
        const { code, output } = run()
        expect(code).to.equal(1)
        expect(output).to.include('packages/a/src/part/index.ts')
      },
      { 'packages/a/src/part/index.ts': 'export const = 3\n' },
    )
  })
})
