import { readFile, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'

describe('README.md of credentials-file', () => {
  it('shows an example that runs', async () => {
    const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
    const [, example] = /```ts\n([^]*?)```/.exec(readme) ?? []
    expect(example).to.be.a('string')
    const directory = await makeTemporaryDirectory()
    // Beside the tests, since that is where the imports resolve.
    const script = new URL(`../.readme-${process.pid}.ts`, import.meta.url)
    try {
      await writeFile(script, example ?? '')
      const run = promisify(execFile)
      const { stdout } = await run(process.execPath, [fileURLToPath(script)], {
        cwd: directory.path,
      })
      expect(stdout).to.equal('true\nfalse\n')
    } finally {
      await rm(script, { force: true })
      await directory.remove()
    }
  })
})
