import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect, promisify } from 'node:util'
import { describeBlobStore, type SuiteRunner } from '@holdfast/contract'
import { expect } from 'chai'
import { fencedBlocks } from './documented-steps.ts'
import { withReaderProject } from './reader-project.ts'

const repository = new URL('../../../../', import.meta.url)
const markdown = readFileSync(new URL('docs/writing-an-adapter.md', repository), 'utf8')
const example = new URL('examples/sqlite-store/', repository)
const files = Object.fromEntries(
  globSync(['package.json', '{src,test}/*.ts'], { cwd: fileURLToPath(example) }).map((path) => [
    path,
    readFileSync(new URL(path, example), 'utf8'),
  ]),
)
const memoryStore = 'packages/core/src/memory/memory-blob-store.ts'
const limitMs = 240_000

/** The code of the document, each piece with the path that its first line names. */
const blocks = fencedBlocks(markdown, 'ts').map((text) => {
  const [, path = '', code = ''] = /^\/\/ (\S+?)(?:, in part)?\n([^]*)$/.exec(text) ?? []
  return { path, code }
})

/** Runs a line of shell in a project of the example's files; what it prints is what it resolves or rejects with. */
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

  it('shows of the store in memory, and of the example, what is in them', () => {
    const [excerpts, own] = [true, false].map((isOfMemory) =>
      blocks.filter(({ path }) => memoryStore.endsWith(`/${path}`) === isOfMemory),
    )
    const source = readFileSync(new URL(memoryStore, repository), 'utf8')
    expect(excerpts).to.have.length(2)
    for (const { code } of excerpts ?? []) {
      expect(source).to.contain(code.replaceAll(/^(?=.)/gm, '    '))
    }
    expect(own).to.have.length(3)
    for (const { path, code } of own ?? []) expect(files[path], path).to.contain(code)
  })

  it('calls tests of the suite by their names', () => {
    const named = [...markdown.matchAll(/`([a-z -]+ > [^`]+)`/g)].map(([, name = '']) => name)
    expect(named).to.have.length.above(20)
    expect(testsOfTheSuite()).to.include.members(named)
  })

  it('has an example without a type error', async () => {
    const options = '--noEmit --strict --module nodenext --target es2023 --lib es2024 --types node'
    await runInProject(`tsc ${options} --allowImportingTsExtensions --skipLibCheck ./*/*.ts`)
  })

  it('leads to an adapter that passes the whole suite', async () => {
    const { scripts } = JSON.parse(files['package.json'] ?? '') as { scripts: { test: string } }
    const output = await runInProject(scripts.test)
    expect(output).to.match(/^ *\d{3} passing/m)
    expect(output).not.to.match(/failing|pending/)
    const all = testsOfTheSuite().filter((name) => !name.startsWith('unreachable > '))
    expect(output).to.contain(`${all.length} passing`)
  })

  it('runs the suite with the runner of Node, too', async () => {
    const output = await runInProject(
      "node --test --test-name-pattern='^ranges$' test/node-runner.ts",
    )
    expect(output)
      .to.match(/^ℹ fail 0$/m)
      .and.to.match(/^ℹ pass [1-9]/m)
  })

  it('keeps a file in the adapter, and gives a part of it', async () => {
    expect(await runInProject('node src/main.ts')).to.equal('holdfast')
  })
})
