import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'

describe('README.md', () => {
  it('shows a test file that declares the whole suite', async () => {
    const readme = await readFile(join(import.meta.dirname, '../README.md'), 'utf8')
    const example = /```ts\n(?<code>.*?)```/su.exec(readme)?.groups?.['code'] ?? ''
    // Inside the package, so that its imports resolve.
    const directory = await mkdtemp(join(import.meta.dirname, 'readme-'))
    try {
      await writeFile(join(directory, 'example.ts'), example)
      const facts = await factsDeclaredBy(join(directory, 'example.ts'))
      expect(facts).to.include('my store as a BlobStore')
      expect(facts).to.include('keeps 65537 bytes as they are')
    } finally {
      await rm(directory, { recursive: true })
    }
  })
})

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
