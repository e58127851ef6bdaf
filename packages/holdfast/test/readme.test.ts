import { execFile } from 'node:child_process'
import { chmod, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  createSite,
  customersYaml,
  holdfastProgram,
  startHoldfast,
  type HoldfastServer,
  type Site,
} from '@holdfast/testing'
import { expect } from 'chai'

const run = promisify(execFile)

describe('The README of holdfast, as a client', function () {
  this.timeout(180_000)

  let site: Site
  let server: HoldfastServer
  let blocks: readonly string[]
  before(async () => {
    const readme = await readFile(join(import.meta.dirname, '../README.md'), 'utf8')
    const [, chapter = ''] = readme.split('\n## As a client\n')
    blocks = [...chapter.matchAll(/^```(?:sh|text)\n([^]*?)^```$/gm)].map(([, text = '']) => text)
    site = await createSite()
    await site.write('customers.yaml', customersYaml('alice', 'correct horse'))
    await site.write('alice.password', 'correct horse\n')
    for (const name of ['notes.txt', 'report.txt']) await site.write(name, 'Hello, holdfast\n')
    await mkdir(join(site.path, 'photos'))
    for (const name of ['beach.jpg', 'city.jpg']) await site.write(`photos/${name}`, name)
    await mkdir(join(site.path, 'bin'))
    const programs = {
      pass: "#!/bin/sh\necho 'correct horse'\n",
      holdfast: `#!/bin/sh\nexec '${process.execPath}' '${holdfastProgram}' "$@"\n`,
    }
    for (const [name, text] of Object.entries(programs)) {
      await chmod(await site.write(`bin/${name}`, text), 0o755)
    }
    server = await startHoldfast([], { cwd: site.path })
  })
  after(async () => {
    await server.kill()
    await site.remove()
  })

  /** Runs a block as a reader would paste it. */
  const paste = async (block = '') => {
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDFAST_'))
    const script = block.replaceAll('http://127.0.0.1:3000', server.url)
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: site.path,
      env: {
        ...Object.fromEntries(inherited),
        HOME: site.path,
        XDG_CONFIG_HOME: join(site.path, 'config'),
        XDG_STATE_HOME: join(site.path, 'state'),
        PATH: `${join(site.path, 'bin')}:${process.env['PATH'] ?? ''}`,
      },
    })
    return stdout.replaceAll(server.url, 'http://127.0.0.1:3000')
  }

  // One after the other, as a reader would.
  it('has commands that do what it says', async () => {
    const [login, store, listed, fetch, script, ...others] = blocks
    expect(others).to.be.empty
    expect(await paste(login)).to.equal('')
    expect(await paste(store)).to.equal(listed)

    const lines = (await paste(fetch)).split('\n')
    expect(await readFile(join(site.path, 'pictures/city.jpg'), 'utf8')).to.equal('city.jpg')
    // tar takes files in the order of the directory, which depends on the file system.
    const packed = lines.slice(0, 3).sort()
    expect(packed).to.deep.equal(['photos/', 'photos/beach.jpg', 'photos/city.jpg'])
    expect(lines[3]).to.match(/ kB {2}\S+ \S+ {2}photos\.tar$/)
    expect(lines).to.include.members(['may.txt', 'notes.txt', 'files       3'])
    expect(lines.filter((line) => /^http:\/\/127.*\?link=/.test(line))).to.have.length(2)

    const [stored = '', missing] = (await paste(script)).split('\n')
    expect(JSON.parse(stored)).to.include({ name: 'report.txt', size: 16 })
    expect(missing).to.equal('exit code 4')
  })
})
