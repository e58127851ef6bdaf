import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { execFile } from 'node:child_process'
import { readdir, stat, chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makeCertificate, createSite, type Site } from '@holdfast/testing'
import { expect } from 'chai'
import { hashPassword } from '@holdfast/passwords'
import { advice } from '@holdfast/core'
import {
  networkFindings,
  trailFindings,
  examineCustomers,
  adviceFinding,
  lookAtMachine,
  machineFindings,
  type Machine,
} from '../../src/doctor/examine.ts'
import { resolveConfig } from '../../src/index.ts'

const allTold = async (flags: Readonly<Record<string, string>>) => {
  const lines: string[] = []
  const config = resolveConfig({ flags: { port: '0', ...flags } })
  for await (const { check, mark, message, remedies } of networkFindings(config)) {
    lines.push(`${mark}: ${check}: ${[message, ...remedies].join(' | ')}`)
  }
  return lines
}

const told = async (flags: Readonly<Record<string, string>>) => (await allTold(flags)).slice(1)

describe('networkFindings', () => {
  it('says whether the server can listen, and what to do where not', async () => {
    expect((await allTold({}))[0]).to.equal('ok: listening: on 127.0.0.1, any port')
    const [elsewhere] = await allTold({ host: '192.0.2.1', port: '4711' })
    expect(elsewhere).to.equal(
      'problem: listening: Cannot listen on 192.0.2.1 port 4711: this machine does not have the address | Choose another --host.',
    )
  })

  it('takes whoever listens there already for the server', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const [taken] = await allTold({ port: `${port}` })
    await once(server.close(), 'close')
    expect(taken).to.equal(
      `skipped: listening: 127.0.0.1 port ${port} is taken: by the server, if it runs`,
    )
    expect((await allTold({ port: `${port}` }))[0]).to.equal(
      `ok: listening: on 127.0.0.1 port ${port}`,
    )
  })

  it('says the same of the admin port, where there is to be one', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const [, taken] = await allTold({ 'admin-port': `${port}` })
    const [, same] = await allTold({ port: `${port}`, 'admin-port': `${port}` })
    const elsewhere = { 'admin-host': '192.0.2.1', 'admin-port': '4711' }
    const [, away] = await allTold(elsewhere)
    await once(server.close(), 'close')
    expect(taken).to.equal(
      `skipped: admin port: 127.0.0.1 port ${port} is taken: by the server, if it runs`,
    )
    expect(same).to.match(/^problem: admin port: The ports for customers .* are both \d+ \| choose/)
    expect(away).to.equal(
      'problem: admin port: Cannot listen on 192.0.2.1 port 4711: this machine does not have the address | Choose another --admin-host.',
    )
  })

  it('is content on this machine, and behind a proxy', async () => {
    expect(await told({})).to.deep.equal(['ok: encryption: not needed on this machine alone'])
    expect(await told({ host: '0.0.0.0', 'trust-proxy': '10.0.0.1' })).to.deep.equal([
      'ok: encryption: is left to the proxy',
      'ok: proxies: trusted: 10.0.0.1',
    ])
  })

  it('warns where passwords would cross a network in clear', async () => {
    const [line, ...others] = await told({ host: '0.0.0.0' })
    expect(others).to.deep.equal([])
    expect(line).to.match(/^warning: encryption: Passwords and files cross the network unencrypted/)
    expect(line).to.include('| Give --tls-cert and --tls-key |')
  })

  it('reports proxies that are none', async () => {
    expect((await told({ 'trust-proxy': 'proxy' }))[1]).to.match(/^problem: proxies: The trusted/)
  })

  it('reports exempt addresses that are none', async () => {
    const exempt = async (text: string) => (await told({ 'login-failures-exempt': text }))[1]
    expect(await exempt('10.0.0.0/8')).to.equal('ok: login brake: exempt: 10.0.0.0/8')
    for (const wrong of ['10.0.0.0/33', 'office.example.com', '2001:db8::/96']) {
      expect(await exempt(wrong)).to.match(/^problem: login brake: The exempt addresses/)
    }
  })

  it('reports a certificate, until when it is valid, and what is wrong with it', async () => {
    const site = await createSite()
    const { certificate, privateKey } = await makeCertificate()
    const flags = {
      'tls-cert': await site.write('cert.pem', certificate),
      'tls-key': await site.write('key.pem', privateKey),
    }
    const [encryption, line] = await told(flags)
    expect(encryption).to.equal('ok: encryption: TLS')
    expect(line).to.match(/: certificate: .*cert\.pem.*\d{4}-\d\d-\d\dT/)
    const [, alone] = await told({ 'tls-cert': flags['tls-cert'] })
    expect(alone).to.match(/^problem: certificate: TLS needs a certificate and its key/)
    const [, missing] = await told({ ...flags, 'tls-key': `${site.path}/none` })
    expect(missing).to.match(/^problem: certificate: .*none \(--tls-key\) does not exist \| give/)
    await site.remove()
  })
})

describe('trailFindings', () => {
  let site: Site
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(() => site.remove())

  const told = async (path?: string) => {
    const lines: string[] = []
    const config = resolveConfig({ flags: path === undefined ? {} : { 'audit-log': path } })
    for await (const { mark, message } of trailFindings(config)) lines.push(`${mark}: ${message}`)
    return lines
  }

  it('says nothing where there is to be no trail', async () => {
    expect(await told()).to.deep.equal([])
  })

  it('is content with a file that is there or can be made, and makes and changes none', async () => {
    const missing = join(site.path, 'audit.jsonl')
    expect(await told(missing)).to.deep.equal([`ok: ${missing} can be written`])
    expect(await readdir(site.path)).to.deep.equal(['customers.yaml'])
    const there = await site.write('there.jsonl', '{}\n')
    const before = await stat(there)
    expect(await told(there)).to.deep.equal([`ok: ${there} can be written`])
    const { size, mtimeMs } = await stat(there)
    expect({ size, mtimeMs }).to.deep.equal({ size: before.size, mtimeMs: before.mtimeMs })
  })

  it('is content with standard output, and with a pipe, which it does not open', async () => {
    expect(await told('-')).to.deep.equal(['ok: - can be written'])
    const pipe = join(site.path, 'pipe')
    await promisify(execFile)('mkfifo', [pipe])
    expect(await told(pipe)).to.deep.equal([`ok: ${pipe} can be written`])
  })

  for (const [title, path, remedy] of [
    ['in a directory that is missing', 'none/audit.jsonl', 'ENOENT.*; make its directory first'],
    ['that is a directory', '.', 'EISDIR.*; name a file in that directory'],
  ] as const) {
    it(`refuses a file ${title}`, async () => {
      const refusal = await told(join(site.path, path)).catch((error: unknown) => error)
      expect(refusal).to.be.an('error').with.property('name', 'SetupError')
      expect(String(refusal)).to.match(new RegExp(`cannot be written \\(uid \\d+: .*${remedy}`))
    })
  }
})

describe('examineCustomers', () => {
  let site: Site
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(() => site.remove())

  const examine = async (text: string) => {
    const path = await site.write('c.yaml', text)
    const { findings, promisedBytes } = await examineCustomers(path)
    const told = findings.map(({ mark, message, remedies }) =>
      [
        mark,
        message.replaceAll(path, 'c.yaml'),
        ...remedies.map((each) => each.replaceAll(path, 'c.yaml')),
      ].join(' | '),
    )
    return { told, promisedBytes }
  }

  it('counts customers, and adds up what they may keep', async () => {
    const password = await hashPassword('secret')
    const customers = ['a', 'b', 'c'].map(
      (name) => `  - { name: ${name}, password: "${password}", quota: 1GB }`,
    )
    customers.push(`  - { name: d, password: "${password}" }`)
    expect(await examine(['customers:', ...customers].join('\n'))).to.deep.equal({
      told: ['ok | c.yaml: 4 customer(s), 3 of them with a quota'],
      promisedBytes: 3e9,
    })
  })

  it('says when no one can log in', async () => {
    const { told } = await examine('customers: []')
    expect(told).to.deep.equal([
      'warning | c.yaml has no customers; no one can log in | holdfast customers add NAME',
    ])
  })

  it('warns of passwords in plain text, and of a file that all may read', async () => {
    const path = await site.write('c.yaml', 'customers: [{ name: a, password: secret }]')
    await chmod(path, 0o644)
    const { findings } = await examineCustomers(path)
    expect(findings.map(({ mark }) => mark)).to.deep.equal(['ok', 'warning', 'warning'])
    expect(findings[1]?.message).to.match(/the password stands in plain text for "a"$/)
    expect(findings[1]?.remedies).to.deep.equal([
      'replace each with: holdfast customers rotate NAME',
    ])
    expect(findings[2]?.remedies).to.deep.equal([`run: chmod o= ${path}`])
    expect(JSON.stringify(findings)).not.to.include('secret')
  })

  it('says what is wrong with each customer', async () => {
    const { told, promisedBytes } = await examine(
      'customers: [{ name: a }, { name: .., password: x }]',
    )
    expect(told).to.have.length(1)
    expect(told[0]).to.match(/^problem \| c\.yaml/)
    expect(promisedBytes).to.equal(0)
  })

  it('reports a file that is missing', async () => {
    const { findings } = await examineCustomers(`${site.path}/none.yaml`)
    expect(findings).to.have.length(1)
    expect(findings[0]?.mark).to.equal('problem')
    expect(findings[0]?.message).to.match(/none\.yaml: does not exist$/)
    expect(findings[0]?.remedies.join()).to.include('holdfast customers add NAME')
  })

  it('does not take the path apart, whatever it has in it', async () => {
    const path = `${site.path}/a; b. C.yaml`
    const { findings } = await examineCustomers(path)
    expect(findings[0]?.message).to.equal(`${path}: does not exist`)
    expect(findings[0]?.remedies).to.have.length(1)
  })
})

describe('adviceFinding', () => {
  for (const [said, message, ...remedies] of [
    [advice('It is wrong.'), 'It is wrong'],
    [advice('f.yaml: it is wrong', 'change it'), 'f.yaml: it is wrong', 'change it'],
    [advice('It needs:', 'one', 'two'), 'It needs', 'one', 'two'],
    [advice('a; b. C is missing', 'Make it. Now.'), 'a; b. C is missing', 'Make it. Now.'],
  ] as const) {
    it(`says ${JSON.stringify(message)}`, () => {
      expect(adviceFinding('problem', 'thing', said)).to.deep.equal({
        check: 'thing',
        mark: 'problem',
        message,
        remedies,
      })
    })
  }
})

const good: Machine = {
  nodeVersion: '24.9.0',
  threads: '16',
  openFiles: 65_536,
  now: new Date('2026-11-21T12:00:00Z'),
}

const reported = (machine: Partial<Machine>) =>
  machineFindings({ ...good, ...machine }).map(
    ({ check, mark, message, remedies }) =>
      `${mark}: ${check}: ${[message, ...remedies].join('. ')}`,
  )

const faults = (machine: Partial<Machine>) =>
  reported(machine).filter((line) => !line.startsWith('ok'))

describe('machineFindings', () => {
  it('says what there is', () => {
    expect(reported({})).to.deep.equal([
      'ok: Node.js: 24.9.0',
      'ok: threads: 16 for files and passwords',
      'ok: open files: up to 65,536 files and connections',
      'ok: clock: 2026-11-21T12:00:00.000Z',
    ])
    expect(reported({ openFiles: Infinity })[2]).to.match(/any number files|any number/)
  })

  it('reports too few threads', () => {
    for (const threads of ['2', 'many', '-1']) {
      expect(faults({ threads })).to.deep.equal([
        `warning: threads: UV_THREADPOOL_SIZE=${threads} leaves too few for files and passwords. unset UV_THREADPOOL_SIZE`,
      ])
    }
    expect(faults({ threads: undefined })).to.deep.equal([])
  })

  it('reports a low limit of open files', () => {
    expect(faults({ openFiles: 1024 })).to.deep.equal([
      'warning: open files: up to 1,024 files and connections; each transfer takes two. LimitNOFILE=65536 in the systemd unit, or in a shell: ulimit -n 65536',
    ])
    expect(faults({ openFiles: undefined })[0]).to.match(/^skipped: open files: this operating/)
  })

  it('reports a clock that stands still in another age', () => {
    for (const year of ['1970', '2107']) {
      const [fault] = faults({ now: new Date(`${year}-01-01T00:00:00Z`) })
      expect(fault).to.match(/^problem: clock: .* cannot be right; .* timedatectl set-ntp true$/)
    }
  })
})

describe('lookAtMachine', () => {
  it('looks at this one', async () => {
    const { nodeVersion, openFiles } = await lookAtMachine()
    expect(nodeVersion).to.equal(process.versions.node)
    expect(openFiles).to.be.above(0)
  })
})
