import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'

describe('The README of @holdfast/passwords', () => {
  it('shows an example that runs', async () => {
    const readme = await readFile(join(import.meta.dirname, '../README.md'), 'utf8')
    const [, example = ''] = /```ts\n([^]*?)```/.exec(readme) ?? []
    // Inside the package, where its own name resolves to it.
    const place = await mkdtemp(join(import.meta.dirname, '../.readme-'))
    try {
      await writeFile(join(place, 'example.ts'), example)
      const run = promisify(execFile)(process.execPath, ['example.ts'], { cwd: place })
      expect((await run).stdout).to.equal('hello.txt\n')
    } finally {
      await rm(place, { recursive: true })
    }
  })
})
