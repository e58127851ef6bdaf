import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { all } from './support/all.ts'
import { startService } from './support/running-service.ts'

describe('The README of @holdfast/client', function () {
  this.timeout(60_000)

  it('shows a program that stores, serves, lists, shares and deletes', async () => {
    const customer = { name: 'demo', password: 'sesame' }
    await using service = await startService({ customer })
    const readme = await readFile(join(import.meta.dirname, '../README.md'), 'utf8')
    const [, shown = ''] = /```ts\n([^]*?)```/.exec(readme) ?? []
    const example = shown.replace('http://127.0.0.1:3000', `http://127.0.0.1:${service.port}`)
    // Inside the package, where its own name resolves to it.
    const cwd = await mkdtemp(join(import.meta.dirname, '../.readme-'))
    try {
      await writeFile(join(cwd, 'example.ts'), example)
      const env = { ...process.env, HOLDFAST_PASSWORD: customer.password }
      const { stdout } = await promisify(execFile)(process.execPath, ['example.ts'], { cwd, env })
      const size = Buffer.byteLength(example)
      expect(stdout.split('\n')).to.include.members([
        `${size} of ${size} bytes`,
        'hello.txt 15',
        'two.txt stored',
        'two.txt deleted',
        'Hello, holdfast',
        'The name is taken',
      ])
      expect(await all(service.files.list())).to.deep.equal([
        ['from-bob-notes.txt', 'this.ts', 'three.txt'],
      ])
    } finally {
      await rm(cwd, { recursive: true })
    }
  })
})
