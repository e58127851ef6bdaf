import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createSite, type Outcome, runHoldfast, type Site } from '@holdfast/testing'
import { expect } from 'chai'

describe('holdfast serve that cannot start', () => {
  let site: Site
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(() => site.remove())

  const serve = (args: readonly string[], env: Record<string, string> = {}) =>
    runHoldfast(['serve', '--port', '0', ...args], { cwd: site.path, env })

  const expectRemedy = ({ code, stdout, stderr }: Outcome, ...parts: readonly string[]) => {
    for (const part of parts) expect(stderr).to.include(part)
    expect(stderr)
      .to.match(/^holdfast: /)
      .and.not.to.match(/^\s+at |unexpected/m)
    // Warnings may have been logged; that it listens may not.
    expect(stdout).not.to.include('listens')
    expect(code).to.equal(1)
  }

  it('says so when the port is taken, and lets go of the data directory', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const outcome = await serve(['--port', String(port)])
    other.close()
    expectRemedy(outcome, `port ${port}: another program listens there`, 'another --port')
    expect(await readdir(join(site.path, 'data/tmp'))).to.deep.equal([])
  })

  it('says so when the machine does not have the address, or the name is unknown', async () => {
    expectRemedy(await serve(['--host', '192.0.2.1']), 'does not have the address', '--host')
    expectRemedy(
      await serve(['--host', 'nowhere.invalid']),
      'Cannot listen on nowhere.invalid',
      '--host',
    )
  })

  it('says so when its user may not write the data directory', async () => {
    const data = join(site.path, 'data')
    await mkdir(data)
    await chmod(data, 0o500)
    const owner = `uid ${process.getuid?.()}, gid ${process.getgid?.()}`
    const outcome = await runHoldfast(['serve', '--port', '0'], {
      cwd: site.path,
      obeysPermissions: true,
    })
    expectRemedy(
      outcome,
      `./data cannot be used (uid ${process.getuid?.()}, gid ${process.getgid?.()} may not write to ${data}, which belongs to ${owner} and has mode 0500)`,
      'give that user write permission',
    )
  })

  it('says so when the data directory is a file, or lies in one', async () => {
    await site.write('plain', '')
    expectRemedy(
      await serve(['--data', './plain']),
      './plain cannot be used',
      'it is a file; choose another --data',
    )
    expectRemedy(await serve(['--data', './plain/data']), 'a part of the path is a file')
    expectRemedy(await serve(['--data', 'x'.repeat(300)]), 'choose another --data')
  })

  it('refuses a directory that belongs to another program, or to a newer holdfast', async () => {
    const data = join(site.path, 'data')
    await mkdir(data)
    await writeFile(join(data, 'thesis.doc'), '')
    expectRemedy(await serve([]), 'it has "thesis.doc"', 'Choose a new or empty directory')
    await writeFile(join(data, 'holdfast.json'), '{"layout":2,"names":"plain"}')
    expectRemedy(await serve([]), 'has layout version 2', 'Start the newer holdfast')
    expect(await readdir(data)).to.have.members(['thesis.doc', 'holdfast.json'])
  })

  it('says how to make the customers file when there is none', async () => {
    expectRemedy(
      await serve(['--customers', 'none.yaml']),
      'none.yaml: does not exist',
      'holdfast customers add NAME',
    )
    expect(await readdir(site.path)).to.deep.equal(['customers.yaml'])
  })

  it('says everything that is wrong with the customers file, without a password', async () => {
    await site.write(
      'customers.yaml',
      'customers:\n  - name: a\n    passwrd: hunter2\n  - nme: b\n',
    )
    const outcome = await serve([])
    expectRemedy(outcome, 'customers.yaml:3: ', 'customers.yaml:4: ')
    expect(outcome.stderr).not.to.include('hunter2')
  })

  it('says where the configuration file is wrong, be it named by flag or variable', async () => {
    await site.write('h.yaml', 'port: 1\nprot: 2\n')
    const byFlag = await serve(['--config', 'h.yaml'])
    expectRemedy(byFlag, 'h.yaml:2: "prot" is not a setting; did you mean "port"?')
    expect(await serve([], { HOLDFAST_CONFIG: 'h.yaml' })).to.deep.equal(byFlag)
    expectRemedy(
      await serve(['--config', 'none.yaml'], { HOLDFAST_CONFIG: 'h.yaml' }),
      'none.yaml cannot be read',
    )
  })
})
