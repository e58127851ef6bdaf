import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { operationsOf, readDescription } from '@holdfast/testing/api-description'
import { browse } from '@holdfast/testing/browsers'
import { expect } from 'chai'

const run = promisify(execFile)
const program = fileURLToPath(new URL('../../../../scripts/build-reference.ts', import.meta.url))

/** Notes in the document what goes wrong while it is shown. */
const watching = `<script>
const note = (what) => document.documentElement.setAttribute('data-wrong', what)
addEventListener('error', (event) => note(event.message))
addEventListener('unhandledrejection', (event) => note(event.reason))
addEventListener('securitypolicyviolation', (event) => note(event.blockedURI))
console.error = console.warn = note
</script>`

/** What a browser makes of `page` once there is an element for `selector`, and what it asks for beside it. */
async function show(page: string, selector?: string) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.setHeader('Content-Type', 'text/html; charset=utf-8').end(page)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { port } = server.address() as AddressInfo
    return { document: await browse(`http://127.0.0.1:${port}/`, selector), asked }
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

describe('scripts/build-reference.ts', function () {
  this.timeout(240_000)
  let folder: string
  let page: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-reference-'))
    const file = join(folder, 'below/reference.html')
    const { stdout } = await run(process.execPath, [program, file])
    expect(stdout).to.equal(`${file}\n`)
    page = await readFile(file, 'utf8')
  })
  after(() => rm(folder, { recursive: true, force: true }))

  it('writes a page that shows every operation in a browser, and loads nothing', async () => {
    const operations = operationsOf(readDescription())
    const { document, asked } = await show(
      page.replace('<head>', `<head>${watching}`),
      `[id$="-${operations.at(-1)?.operationId}"]`,
    )
    for (const { operationId } of operations) {
      expect(document).to.match(new RegExp(`id="operations-\\w+-${operationId}"`))
    }
    expect(document).to.not.include('data-wrong=')
    expect(asked).to.deep.equal(['/'])
  })

  it('would notice a page that loads something, or fails', async () => {
    const image = '<body><img src="http://127.0.0.1:1/a.png">'
    const bare = page.replaceAll(/<script>.*?<\/script>/gs, '')
    const loading = await show(bare.replace('<head>', `<head>${watching}`).replace('<body>', image))
    expect(loading.document).to.include('data-wrong="http://127.0.0.1:1/a.png"')
    const failing = await show(`${watching}<script>failure()</script>`)
    expect(failing.document).to.include('failure is not defined')
  })
})
