import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect, promisify } from 'node:util'
import { describeBlobStore, type SuiteRunner } from '@holdfast/contract'
import { expect } from 'chai'
import { fencedBlocks } from './documented-steps.ts'
import { withReaderProject } from './reader-project.ts'

const repository = new URL('../../../../', import.meta.url)
const markdown = readFileSync(new URL('docs/writing-an-adapter.md', repository), 'utf8')
const blocks = fencedBlocks(markdown, 'ts').map((text) => {
  const [, name = '', code = ''] = /^\/\/ (.*)\n([^]*)$/.exec(text) ?? []
  return { name, code }
})
const programs = blocks.filter(({ name }) => name.endsWith('.ts'))
const excerpts = blocks.filter(({ name }) => !name.endsWith('.ts'))
const manifest = fencedBlocks(markdown, 'json').join()
const limitMs = 240_000
const files = {
  'package.json': manifest,
  ...Object.fromEntries(programs.map(({ name, code }) => [name, code])),
}

/** Runs a line of shell in a project of the document's files; what it prints is what it resolves or rejects with. */
async function runInProject(command: string): Promise<string> {
  const bin = fileURLToPath(new URL('node_modules/.bin', repository))
  return withReaderProject(files, async (cwd) => {
    // The project's own mocha, and our compiler.
    const programs = [dirname(process.execPath), join(cwd, 'node_modules/.bin'), bin]
    const path = [...programs, process.env['PATH']].join(delimiter)
    const env = { ...process.env, PATH: path, FORCE_COLOR: '0' }
    // A command that hangs is killed itself, not a shell around it.
    const limit = { timeout: limitMs, killSignal: 'SIGKILL' } as const
    const run = promisify(execFile)('sh', ['-euc', `exec ${command}`], { cwd, env, ...limit })
    const { stdout } = await run.catch((error: unknown) => {
      // With what the command printed, which the message alone does not tell.
      throw new Error(inspect(error))
    })
    return stdout
  })
}

/** The tests of the contract suite, each as the document calls it, `group > test`. */
function testsOfTheSuite(): string[] {
  const found: string[] = []
  const titles: string[] = []
  const runner: SuiteRunner = {
    describe(name, body) {
      titles.push(name)
      body()
      titles.pop()
    },
    it: (name) => void found.push([...titles.slice(1), name].join(' > ')),
  }
  const open = () => Promise.reject(new Error('no test is run'))
  describeBlobStore('any', open, { runner, openFull: open, openUnreachable: open })
  return found
}

describe('docs/writing-an-adapter.md', function () {
  this.timeout(limitMs + 120_000)

  it('names a file for each of its programs, and one manifest', () => {
    expect(programs.map(({ name }) => name)).to.include('sqlite-blob-store.ts')
    expect(new Set(programs.map(({ name }) => name)).size).to.equal(programs.length)
    expect(Object.keys(JSON.parse(manifest) as object)).to.include('devDependencies')
  })

  it('shows of the store in memory what is in it', () => {
    const source = readFileSync(
      new URL('packages/core/src/memory/memory-blob-store.ts', repository),
      'utf8',
    )
    expect(excerpts).to.have.length(2)
    for (const { code } of excerpts) expect(source).to.contain(code.replaceAll(/^(?=.)/gm, '    '))
  })

  it('calls tests of the suite by their names', () => {
    const named = [...markdown.matchAll(/`([a-z -]+ > [^`]+)`/g)].map(([, name = '']) => name)
    expect(named).to.have.length.above(20)
    expect(testsOfTheSuite()).to.include.members(named)
  })

  it('shows programs without a type error', async () => {
    const options = '--noEmit --strict --module nodenext --target es2023 --lib es2024 --types node'
    await runInProject(`tsc ${options} --allowImportingTsExtensions --skipLibCheck ./*.ts`)
  })

  it('ends in an adapter that passes the whole suite', async () => {
    const { scripts } = JSON.parse(manifest) as { scripts: { test: string } }
    const output = await runInProject(scripts.test)
    expect(output).to.match(/^ *\d{3} passing/m)
    expect(output).not.to.match(/failing|pending/)
    const all = testsOfTheSuite().filter((name) => !name.startsWith('unreachable > '))
    expect(output).to.contain(`${all.length} passing`)
  })

  it('runs the suite with the runner of Node, too', async () => {
    const output = await runInProject("node --test --test-name-pattern='^ranges$' node-runner.ts")
    expect(output)
      .to.match(/^ℹ fail 0$/m)
      .and.to.match(/^ℹ pass [1-9]/m)
  })

  it('keeps a file in the adapter, and gives a part of it', async () => {
    expect(await runInProject('node example.ts')).to.equal('holdfast')
  })
})
