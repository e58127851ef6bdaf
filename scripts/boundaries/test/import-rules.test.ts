import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { expect } from 'chai'
import { packageFiles, withRepository } from './fixture-repository.ts'

const root = join(import.meta.dirname, '../../..')

/** A package that is built. The fixtures import it by its path, to which pnpm's links lead as well. */
const built = (name: string): Record<string, string> => ({
  [`packages/${name}/dist/index.js`]: 'export {}',
  [`packages/${name}/src/index.ts`]: 'export {}',
  [`packages/${name}/package.json`]: JSON.stringify({
    name: `@holdfast/${name}`,
    exports: './dist/index.js',
  }),
})

interface Cruise {
  readonly summary: { readonly violations: readonly { readonly rule: { readonly name: string } }[] }
}

/** The names of the rules that a repository of these files breaks, each once, in order. */
function brokenRules(files: Readonly<Record<string, string>>): Promise<string[]> {
  return withRepository(files, async (repository) => {
    const config = join(root, '.dependency-cruiser.mjs')
    const output = await new Promise<string>((resolve) => {
      const words = ['--config', config, '--output-type', 'json', '.']
      const program = join(root, 'node_modules/.bin/depcruise')
      execFile(program, words, { cwd: repository }, (_error, stdout) => resolve(stdout))
    })
    const { summary } = JSON.parse(output) as Cruise
    return [...new Set(summary.violations.map(({ rule }) => rule.name))].sort()
  })
}

describe('The rules of imports', function () {
  this.timeout(60_000)

  it('let a package import what it may, and its own files in one direction', async () => {
    const rules = await brokenRules({
      ...packageFiles('store-disk', { source: "import './a.ts'\nimport './rooms/b.ts'" }),
      'packages/store-disk/src/a.ts': "import './rooms/b.ts'\nimport 'node:path'",
      'packages/store-disk/src/rooms/b.ts': "import 'node:fs'",
    })
    expect(rules).to.deep.equal([])
  })

  it('name an adapter that imports another', async () => {
    const source = "import '../../store-minio/dist/index.js'"
    const rules = await brokenRules({
      ...built('store-minio'),
      ...packageFiles('http-koa', { source }),
    })
    expect(rules).to.deep.equal(['http-koa-imports-only-what-it-may'])
  })

  it('let tests alone import the contract', async () => {
    const files = {
      ...built('contract'),
      'packages/store-disk/test/a.test.ts': "import '../../contract/dist/index.js'",
    }
    expect(await brokenRules({ ...packageFiles('store-disk', {}), ...files })).to.deep.equal([])
    const source = "import '../../contract/dist/index.js'"
    expect(await brokenRules({ ...packageFiles('store-disk', { source }), ...files })).to.include(
      'store-disk-imports-only-what-it-may',
    )
  })

  it('name a test that imports a package which even tests may not know', async () => {
    const rules = await brokenRules({
      ...built('server'),
      ...packageFiles('store-disk', {}),
      'packages/store-disk/test/a.test.ts': "import '../../server/dist/index.js'",
    })
    expect(rules).to.deep.equal(['tests-of-store-disk-import-only-what-they-may'])
  })

  it('name a source that imports a package which is not there', async () => {
    const source = "import '@holdfast/core'"
    const rules = await brokenRules(packageFiles('store-disk', { dependencies: ['core'], source }))
    expect(rules).to.include('imports-lead-somewhere')
  })

  it('name a source that reaches into the sources of another package', async () => {
    const source = "import '../../core/src/index.ts'"
    const rules = await brokenRules({ ...built('core'), ...packageFiles('store-disk', { source }) })
    expect(rules).to.deep.equal(['packages-by-their-names'])
  })

  it('name a test that reaches into the sources of another package, unless it is of system-tests', async () => {
    const files = { ...built('core'), ...packageFiles('store-disk', {}) }
    const source = "import '../../core/src/index.ts'"
    const rules = await brokenRules({ ...files, 'packages/store-disk/test/a.test.ts': source })
    expect(rules).to.deep.equal(['packages-by-their-names'])
    const others = await brokenRules({ ...files, 'packages/system-tests/test/a.test.ts': source })
    expect(others).to.deep.equal([])
  })

  it('name a test that imports what lies beside the tests of another package', async () => {
    const rules = await brokenRules({
      ...packageFiles('store-disk', {}),
      'packages/store-disk/test/support.ts': '',
      'packages/store-disk/test/a.test.ts': "import './support.ts'",
      'packages/system-tests/test/b.test.ts': "import '../../store-disk/test/support.ts'",
    })
    expect(rules).to.deep.equal(['tests-share-through-testing'])
  })

  it('name a source that imports its tests', async () => {
    const rules = await brokenRules({
      ...packageFiles('store-disk', { source: "import '../test/support.ts'" }),
      'packages/store-disk/test/support.ts': '',
    })
    expect(rules).to.deep.equal(['sources-know-no-tests'])
  })

  it('name whatever core imports', async () => {
    const rules = await brokenRules(packageFiles('core', { source: "import 'node:path'" }))
    expect(rules).to.deep.equal(['core-imports-only-itself'])
  })

  it('name a published source that imports what it only needs for tests', async () => {
    const source = "import 'chai'"
    const rules = await brokenRules({
      ...packageFiles('store-disk', { devDependencies: ['npm:chai'], source }),
      'packages/store-disk/node_modules/chai/package.json': '{"name":"chai","main":"a.js"}',
      'packages/store-disk/node_modules/chai/a.js': '',
    })
    expect(rules).to.deep.equal(['sources-import-dependencies'])
  })

  it('name files that import each other in a circle, though types close it', async () => {
    const rules = await brokenRules({
      ...packageFiles('core', { source: "import './a.ts'" }),
      'packages/core/src/a.ts': "import { b } from './b.ts'",
      'packages/core/src/b.ts': "import type { A } from './a.ts'",
    })
    expect(rules).to.deep.equal(['no-circles-of-files'])
  })

  it('name folders that import each other, though no files do', async () => {
    const rules = await brokenRules({
      ...packageFiles('core', {}),
      'packages/core/src/one/a.ts': "import '../two/a.ts'",
      'packages/core/src/two/a.ts': '',
      'packages/core/src/two/b.ts': "import '../one/b.ts'",
      'packages/core/src/one/b.ts': '',
    })
    expect(rules).to.deep.equal(['no-circles-of-folders'])
  })

  it('name what imports a part of the bench', async () => {
    const files = { 'scripts/a.ts': "import './bench/b.ts'", 'scripts/bench/b.ts': '' }
    expect(await brokenRules(files)).to.deep.equal(['the-bench-stands-alone'])
  })
})
