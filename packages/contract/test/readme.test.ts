import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { readmeExamples, runReadme, withExample } from '@holdfast/testing'
import { expect } from 'chai'

const tests = import.meta.dirname

describe('The README of @holdfast/contract', () => {
  it('shows a test file that declares the whole suite', async () => {
    const [example = ''] = await readmeExamples(tests)
    const facts = await withExample(tests, example, factsDeclaredBy)
    expect(facts).to.include('my store as a BlobStore')
    expect(facts).to.include('keeps 65537 bytes as they are')
  })

  it('shows a scenario under every fault, and which those are', async () => {
    const [, example = '', ...others] = await readmeExamples(tests)
    expect(others).to.deep.equal([])
    const output = await runReadme(tests, { nth: 1 })
    expect(example.trimEnd().split('\n').at(-1)).to.equal(`// ${output.trimEnd()}`)
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
