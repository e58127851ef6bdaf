import { execFile } from 'node:child_process'
import { copyFile, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { withRepository } from '../../boundaries/test/fixture-repository.ts'
import type { Report } from '../report.ts'

const root = join(import.meta.dirname, '../../..')
const file = 'packages/a/test/a.test.ts'
const good = "it('holds', () => {})\n"
const bad = "it(`it's broken`, () => { throw new Error('broken\\ntwice') })\n"

interface Outcome extends Report {
  /** How many processes have left what they ran of the sources. */
  readonly covering: number
}

function reportOf(source: string, ...options: string[]): Promise<Outcome> {
  return reportOfFile(file, source, options)
}

/** What comes of a test file. In a process of its own, as `scripts/test` runs them. */
async function reportOfFile(
  file: string,
  source: string,
  options: readonly string[],
): Promise<Outcome> {
  const files = { 'package.json': '{"type":"module"}', [file]: source }
  return withRepository(files, async (folder) => {
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    await copyFile(join(root, '.mocharc.json'), join(folder, '.mocharc.json'))
    const reporter = ['--reporter', join(root, 'scripts/mocha-reporter.ts')]
    const module = JSON.stringify(join(root, 'scripts/checks/test-job.ts'))
    const coverage = join(folder, 'coverage')
    const args = JSON.stringify([
      folder,
      { title: file, files: [file] },
      'units',
      [...reporter, ...options],
      { coverage, compiled: join(folder, 'compiled'), temporary: '/of-tests' },
    ])
    const script = `import { testJob } from ${module}
      const report = await testJob(...${args}).run(new AbortController().signal)
      console.log(JSON.stringify(report))`
    const env = { ...process.env, FORCE_COLOR: '0' }
    const run = promisify(execFile)
    const node = ['--input-type=module', '--eval', script]
    const { stdout } = await run(process.execPath, node, { env })
    const covering = await readdir(coverage).catch(() => [])
    return { ...(JSON.parse(stdout) as Report), covering: covering.length }
  })
}

describe('testJob', () => {
  it('counts what passes, and reports what fails', async () => {
    const report = await reportOf(`describe('things', () => {\n${good}${bad}})`)
    expect(report).to.deep.include({ passed: 1 })
    expect(report.failures).to.deep.equal([
      {
        file,
        title: "things > it's broken",
        message: 'broken\ntwice',
        again: String.raw`scripts/test packages/a/test/a.test.ts --fgrep 'things it'\''s broken'`,
      },
    ])
    expect(report.output).to.include('1 passing').and.include('1 failing')
  })

  it('reports a hook that fails, which cannot be chosen', async () => {
    const { failures } = await reportOf(`before(() => { throw new Error('no') })\n${good}`)
    expect(failures).to.have.length(1)
    expect(failures[0]).to.include({ message: 'no', again: `scripts/test ${file}` })
  })

  it('is well when an option chooses none of the tests', async () => {
    const report = await reportOf(good, '--grep', 'nothing')
    expect(report).to.deep.include({ passed: 0, failures: [] })
  })

  it('hands on what suites have counted, and the results of the contract suite', async () => {
    const report = await reportOf(`
      describe('S as a BlobStore', () => describe('group', () => it('test', () => {
        console.log('figures: kills: 7')
      })))`)
    expect(report.figures).to.deep.equal(['figures: kills: 7'])
    expect(report.contract).to.deep.equal([
      { suite: 'S', group: 'group', test: 'test', passed: true },
    ])
  })

  const ends: Readonly<Record<string, readonly [source: string, message: string]>> = {
    'a file that does not load': ['nonsense()', 'with code 1'],
    'a process that ends before its tests': [
      "it('leaves', () => process.exit(0))",
      'before its tests',
    ],
    'a process that is killed': [
      "it('dies', async () => { process.kill(process.pid, 'SIGKILL'); await new Promise(() => {}) })",
      'by SIGKILL',
    ],
  }
  for (const [title, [source, message]] of Object.entries(ends)) {
    it(`counts ${title} as one failure`, async () => {
      const { passed, failures } = await reportOf(good + source)
      expect(passed).to.equal(0)
      expect(failures).to.deep.equal([
        { file, title: 'all of it', message: `ended ${message}`, again: `scripts/test ${file}` },
      ])
    })
  }

  it('counts a test that is skipped as a failure', async () => {
    const { failures } = await reportOf(`${good}it.skip('waits', () => {})`)
    expect(failures).to.have.length(1)
  })

  it('ends tests that leave something open, and says what', async () => {
    const grace = ['--reporter-option', 'grace=0.1']
    const { failures, output } = await reportOf(`${good}setInterval(() => {}, 1000)`, ...grace)
    expect(failures).to.have.length(1)
    expect(output).to.include('kept by').and.include('Timeout')
  })

  it('has the process of the tests report what it has run, but none that they start, none that measures, and none that repeats what others do', async () => {
    const starts = `import { execFileSync } from 'node:child_process'
      it('starts', () => void execFileSync(process.execPath, ['--eval', '1']))`
    expect((await reportOf(starts)).covering).to.equal(1)
    const alone = await reportOfFile('packages/a/test/a.alone.test.ts', starts, [])
    expect(alone).to.deep.include({ passed: 1, covering: 0 })
    const long = await reportOfFile('packages/a/test/a.long.test.ts', starts, [])
    expect(long).to.deep.include({ passed: 1, covering: 1 })
    for (const folder of ['system-tests/test', 'store-minio/test/other-servers']) {
      const repeating = await reportOfFile(`packages/${folder}/a.test.ts`, starts, [])
      expect(repeating, folder).to.deep.include({ passed: 1, covering: 0 })
    }
  })

  it('keeps compiled code but of processes whose coverage is collected, and nothing where time or memory is measured', async () => {
    const looks = `import { execFileSync } from 'node:child_process'
      const folder = "process.getBuiltinModule('module').getCompileCacheDir()"
      const kept = (folder) => String(folder).includes('/compiled')
      it('looks', () => {
        const child = execFileSync(process.execPath, ['--print', folder], { encoding: 'utf8' })
        console.log(\`kept: \${kept(eval(folder))}, of what it starts: \${kept(child)}\`)
      })`
    for (const [name, isKept, isKeptOfChildren] of [
      ['system-tests/test/a.test.ts', true, true],
      ['a/test/a.long.test.ts', false, true],
      ['a/test/a.test.ts', false, true],
      ['system-tests/test/a.alone.test.ts', false, false],
    ] as const) {
      const { output } = await reportOfFile(`packages/${name}`, looks, [])
      expect(output, name).to.include(`kept: ${isKept}, of what it starts: ${isKeptOfChildren}`)
    }
  })

  it('has temporary files lie in the folder that is given', async () => {
    const looks = `it('looks', () => {
      if (process.env.TMPDIR !== '/of-tests') throw new Error(process.env.TMPDIR)
    })`
    expect(await reportOf(looks)).to.deep.include({ passed: 1 })
  })

  it('is alone where the name of the file says so', async () => {
    const { testJob } = await import('../test-job.ts')
    const job = (name: string) =>
      testJob('/', { title: name, files: [`packages/alone/test/${name}`] }, 'units', [])
    const isAlone = (name: string) => job(name).isAlone
    expect(['a.alone.test.ts', 'a.long.alone.test.ts'].map(isAlone)).to.deep.equal([true, true])
    expect(['a.test.ts', 'alone.test.ts', 'a.long.test.ts'].some(isAlone)).to.equal(false)
  })
})
