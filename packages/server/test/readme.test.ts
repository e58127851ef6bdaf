import { execFile } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createSite } from '@holdfast/testing'
import { expect } from 'chai'

describe('README.md of server', () => {
  it('shows an example that runs', async () => {
    const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
    const [, example] = /```ts\n([^]*?)```/.exec(readme) ?? []
    expect(example).to.be.a('string')
    const site = await createSite()
    // Beside the tests, since that is where the imports resolve.
    const script = new URL(`../.readme-${process.pid}.ts`, import.meta.url)
    try {
      await writeFile(script, example ?? '')
      const run = promisify(execFile)
      const args = [fileURLToPath(script)]
      const { stdout } = await run(process.execPath, args, { cwd: site.path, timeout: 50_000 })
      expect(stdout).to.equal('pong\ntrue\n')
    } finally {
      await rm(script, { force: true })
      await site.remove()
    }
  })
})
