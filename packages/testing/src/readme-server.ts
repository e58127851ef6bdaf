import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** Has the example listen on a port of its own, and print which. */
const listenAnywhere = `
import { Server } from 'node:net'
const { listen } = Server.prototype
Server.prototype.listen = function () {
  return listen.call(this, 0, '127.0.0.1', () => console.log(this.address().port))
}
`

/**
 * Runs the server that the README beside the folder `tests` shows below the heading `title`, in TypeScript, for as long as `visit`
 * takes. An empty title: the first one that it shows.
 */
export async function withReadmeServer(
  tests: string,
  title: string,
  visit: (url: string) => Promise<void>,
): Promise<void> {
  const readme = await readFile(join(tests, '../README.md'), 'utf8')
  const section = title === '' ? readme : (readme.split(`\n## ${title}\n`)[1] ?? '')
  const [, example] = /```ts\n([^]*?)```/.exec(section) ?? []
  if (example === undefined) throw new Error(`The README has no TypeScript below "${title}"`)
  // Inside the package, where its own name resolves to it.
  const place = await mkdtemp(join(tests, 'readme-'))
  try {
    await writeFile(join(place, 'listen-anywhere.mjs'), listenAnywhere)
    await writeFile(join(place, 'example.ts'), example)
    const run = ['--import', './listen-anywhere.mjs', 'example.ts']
    const child = spawn(process.execPath, run, { cwd: place, stdio: ['ignore', 'pipe', 'inherit'] })
    const closed = once(child, 'close')
    try {
      const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
      const { value: port } = await lines.next()
      await visit(`http://127.0.0.1:${port}`)
    } finally {
      child.kill()
      await closed
    }
  } finally {
    await rm(place, { recursive: true })
  }
}
