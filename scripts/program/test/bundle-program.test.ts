import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { startHoldfast } from '../../../packages/testing/src/holdfast.ts'
import { createSite, type Site } from '../../../packages/testing/src/site.ts'
import { bundleProgram } from '../bundle-program.ts'

const root = join(import.meta.dirname, '../../..')
const run = promisify(execFile)

/** Reports each module that is not below the folder `BUNDLE`. */
const witness = `
import { registerHooks } from 'node:module'
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    const isOurs = found.url.startsWith('node:') || found.url.startsWith(process.env.BUNDLE)
    if (!isOurs && !found.url.startsWith('data:')) process.stderr.write('loads ' + found.url + '\\n')
    return found
  },
})`

describe('bundleProgram', () => {
  let folder: string
  let program: string
  let site: Site
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-bundle-'))
    program = await bundleProgram(root, join(folder, 'program'))
  })
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(() => site.remove())
  after(() => rm(folder, { recursive: true }))

  it('is the command, with its version', async () => {
    const { version } = (
      await import('../../../packages/holdfast/package.json', { with: { type: 'json' } })
    ).default
    expect((await run(process.execPath, [program, '--version'])).stdout).to.equal(`${version}\n`)
  })

  it('changes the customers file', async () => {
    const edit = run(process.execPath, [program, 'customers', 'add', 'alice'], { cwd: site.path })
    expect((await edit).stdout).to.match(/^\S{10,}\n$/)
  })

  it('serves, with workers and metrics, and loads nothing from elsewhere', async () => {
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(witness)}`
    const env = { NODE_OPTIONS, BUNDLE: `file://${folder}` }
    const flags = ['--workers', '2', '--admin-port', '0']
    const server = await startHoldfast(flags, { cwd: site.path, env, program })
    try {
      expect((await fetch(`${server.url}/ping`)).status).to.equal(200)
    } finally {
      await server.kill()
    }
    expect(server.output()).not.to.include('loads ')
  })

  it('keeps what is loaded on demand in files of its own', async () => {
    const files = await readdir(join(folder, 'program/holdfast/dist'))
    expect(files).to.include.members(['main.js', 'main.js.map', 'worker-process.js'])
    expect(files.filter((file) => file.endsWith('.js')).length).to.be.greaterThan(10)
  })

  it('replaces what was there', async () => {
    const stale = join(folder, 'program/stale.js')
    await writeFile(stale, '')
    await bundleProgram(root, join(folder, 'program'))
    expect(await readdir(join(folder, 'program'))).not.to.include('stale.js')
  })
})
