import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect } from 'chai'

describe('The README of @holdfast/web', () => {
  it('shows a server with the page', async () => {
    const readme = await readFile(join(import.meta.dirname, '../README.md'), 'utf8')
    const [, example = ''] = /```ts\n([^]*?)```/.exec(readme) ?? []
    const shown = example.replace(
      'server.listen(8080)',
      "server.listen(0, '127.0.0.1', () => console.log(server.address().port))",
    )
    expect(shown).not.to.equal(example)
    // Inside the package, where its own name resolves to it.
    const place = await mkdtemp(join(import.meta.dirname, 'readme-'))
    await writeFile(join(place, 'example.ts'), shown)
    const program = spawn(process.execPath, ['example.ts'], {
      cwd: place,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      const [port] = (await once(createInterface(program.stdout), 'line')) as [string]
      const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { Accept: 'text/html' } })
      expect(answer.status).to.equal(200)
      expect(await answer.text()).to.include('<title>holdfast</title>')
    } finally {
      program.kill()
      await rm(place, { recursive: true })
    }
  })
})
