import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { exampleNames, installedExamples } from './installed-examples.ts'

const root = join(import.meta.dirname, '../../..')

describe('examples', function () {
  this.timeout(180_000)

  it('have no type error where they are installed', async () => {
    const tsc = join(root, 'node_modules/@typescript/native/bin/tsc')
    const run = promisify(execFile)(process.execPath, [tsc], { cwd: await installedExamples() })
    const said = await run.catch((error: unknown) => error as { stdout: string })
    expect(said.stdout).to.equal('')
  })

  for (const document of ['docs/embedding.md', 'examples/README.md']) {
    it(`are all in ${document}`, () => {
      const text = readFileSync(join(root, document), 'utf8')
      expect(exampleNames()).to.have.length.at.least(6)
      for (const name of exampleNames()) expect(text).to.match(new RegExp(`${name}[/)]`))
    })
  }
})
