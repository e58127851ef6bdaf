import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { expect } from 'chai'

describe('README.md', () => {
  it('shows a test file that declares the whole suite', async () => {
    const [example = ''] = await examples()
    await withFile(example, async (path) => {
      const facts = await factsDeclaredBy(path)
      expect(facts).to.include('my store as a BlobStore')
      expect(facts).to.include('keeps 65537 bytes as they are')
    })
  })

  it('shows a scenario under every fault, and which those are', async () => {
    const [, example = '', ...others] = await examples()
    expect(others).to.deep.equal([])
    await withFile(example, async (path) => {
      const { stdout } = await promisify(execFile)(process.execPath, [path])
      expect(example.trimEnd().split('\n').at(-1)).to.equal(`// ${stdout.trimEnd()}`)
    })
  })
})

async function examples(): Promise<string[]> {
  const readme = await readFile(join(import.meta.dirname, '../README.md'), 'utf8')
  return [...readme.matchAll(/```ts\n(?<code>.*?)```/gsu)].map((match) => match[1] ?? '')
}

async function withFile(code: string, use: (path: string) => Promise<void>): Promise<void> {
  // Inside the package, so that its imports resolve.
  const directory = await mkdtemp(join(import.meta.dirname, '../.readme-'))
  const path = join(directory, 'example.ts')
  try {
    await writeFile(path, code)
    await use(path)
  } finally {
    await rm(directory, { recursive: true })
  }
}

/** Names of all groups and tests that the file declares; the first test of each group is run. */
async function factsDeclaredBy(path: string): Promise<string[]> {
  const script = `
    const facts = [], firsts = []
    let first = false
    globalThis.describe = (name, body) => { facts.push(name); first = true; body() }
    globalThis.it = (name, body) => { facts.push(name); if (first) firsts.push(body); first = false }
    await import(${JSON.stringify(path)})
    for (const body of firsts) await body()
    console.log(JSON.stringify(facts))`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
  expect(child.exitCode).to.equal(0)
  const facts: unknown = JSON.parse(output)
  return Array.isArray(facts) ? facts.map(String) : []
}
