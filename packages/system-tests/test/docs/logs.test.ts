import { globSync, readFileSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  createSite,
  credentials,
  customersYaml,
  type HoldfastServer,
  type LogLine,
  openConnection,
  type Site,
  startHoldfast,
  until,
  uploadHead,
  adminUrl,
} from '@holdfast/testing'
import { expect } from 'chai'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const text = readFileSync(join(root, 'docs/diagnose.md'), 'utf8')
const section = text.slice(text.indexOf('\n## Logs\n'))

/** The rows of the tables, by table, without their heads. */
const [general = [], ofRequests = [], messages = [], others = []] = section
  .split('\n\n')
  .filter((block) => block.startsWith('|'))
  .map((block) =>
    block
      .split('\n')
      .slice(2)
      .map((row) => row.split('|').map((cell) => cell.trim()))
      .map(([, first = '', second = '', third = '']) => ({ first, second, third })),
  )

const quoted = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)

/** The type of each field that a table has. */
const typesIn = (rows: typeof general) =>
  new Map(rows.flatMap(({ first, second }) => quoted(first).map((name) => [name, second] as const)))
const generalTypes = typesIn(general)
const requestTypes = typesIn(ofRequests)
const otherTypes = new Map([...requestTypes, ...typesIn(others)])

const levels: Readonly<Record<number, string>> = {
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
}

function typeOf(value: unknown): string {
  if (value === true) return '`true`'
  if (Array.isArray(value)) return 'list'
  return typeof value === 'string' ? 'text' : typeof value
}

/** The row of a line that is no request's. */
function rowOf({ msg }: LogLine) {
  return messages.find(({ first }) =>
    quoted(first).some((known) =>
      known.endsWith(' …') ? String(msg).startsWith(known.slice(0, -1)) : msg === known,
    ),
  )
}

/** A server that has done all sorts of things, and what it has logged. */
async function eventfulRun(site: Site): Promise<readonly LogLine[]> {
  const flags = ['--admin-port', '0', '--shutdown-delay', '1ms']
  const server = await startHoldfast(flags, { cwd: site.path })
  const send = async (path: string, init: RequestInit = {}) =>
    (await fetch(server.url + path, { headers: credentials, ...init })).arrayBuffer()
  try {
    await send('/upload/a.txt', { method: 'PUT', body: 'a' })
    await send('/serve/a.txt')
    await send('/list', { headers: {} })
    await noSuchTarget(server)
    await brokenUpload(server)
    const files = join(site.path, 'data/files')
    await rename(files, `${files}-away`)
    await send('/serve/b.txt')
    await fetch(`${await adminUrl(server)}/ready`)
    await rename(`${files}-away`, files)
    await site.write('customers.yaml', 'customers: nobody\n')
    await server.logged('customers file refused')
    await site.write('customers.yaml', customersYaml('other', 'correct horse'))
    await server.logged('customers reloaded')
    server.signal('SIGTERM')
    await server.ended
    return server.lines()
  } finally {
    await server.kill()
  }
}

async function noSuchTarget(server: HoldfastServer): Promise<void> {
  const connection = await openConnection(server.port)
  const token = 'demo.1.secret'
  const target = `http://[::1/serve/a?link=${token}`
  connection.write(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
  await connection.closed
  // Node warns of a URL that it cannot parse, and would print it.
  expect(server.output()).to.not.include(token)
}

async function brokenUpload(server: HoldfastServer): Promise<void> {
  const connection = await openConnection(server.port)
  connection.write(`${uploadHead('broken.txt', 100)}the beginning`)
  const isThere = async () =>
    (await fetch(`${await adminUrl(server)}/metrics`).then((answer) => answer.text())).includes(
      '\nholdfast_uploads_under_way 1\n',
    )
  await until('the upload is under way', isThere)
  connection.socket.destroy()
  await until('it is logged', () => server.lines().some((line) => line['aborted'] === true))
}

describe('The logs in docs/diagnose.md', function () {
  this.timeout(60_000)
  let site: Site
  let lines: readonly LogLine[]
  before(async () => {
    site = await createSite()
    lines = await eventfulRun(site)
  })
  after(() => site.remove())

  const requests = () => lines.filter(({ msg }) => msg === 'request')

  it('have every field of every request, with its type', () => {
    const seen = new Set<string>()
    for (const line of requests()) {
      for (const [field, value] of Object.entries(line)) {
        const type = generalTypes.get(field) ?? requestTypes.get(field)
        expect(typeOf(value), `${field} of ${JSON.stringify(line)}`).to.equal(type)
        seen.add(field)
      }
    }
    expect([...seen]).to.have.members([...generalTypes.keys(), ...requestTypes.keys()])
  })

  it('have every field of every other line, with its type and level', () => {
    const others = lines.filter(({ msg }) => msg !== 'request')
    const known = others.filter((line) => rowOf(line) !== undefined)
    expect(new Set(known.map(({ msg }) => msg)).size).to.be.at.least(7)
    for (const line of others) {
      const row = rowOf(line)
      const fields = Object.keys(line).filter((field) => !generalTypes.has(field))
      const text = JSON.stringify(line)
      if (row === undefined) expect(line['level'], text).to.equal(40)
      else expect(levels[Number(line['level'])], text).to.equal(row.second)
      expect(quoted(row?.third ?? ''), text).to.include.members(fields)
      for (const field of fields) {
        expect(typeOf(line[field]), text).to.equal(otherTypes.get(field))
      }
    }
  })

  it('have every message that the code has, and no other', () => {
    const sources = globSync('packages/{http-koa,server}/src/**/*.ts', { cwd: root })
    const written = sources
      .map((file) => readFileSync(join(root, file), 'utf8'))
      .flatMap((source) => [
        ...source.matchAll(/\blog\.(\w+)\((?:(?!\blog\.)[^`])*?'([^']+)',?\s*\)/g),
      ])
      .map(([, level = '', message = '']) => `${level}: ${message}`)
      .filter((message) => message !== 'info: request')
    const documented = messages.flatMap(({ first, second }) =>
      quoted(first).map((message) => `${second}: ${message}`),
    )
    // What is made of a status or an address, or of what Node.js calls a fault.
    const made = documented.filter((message) =>
      /: (holdfast listens on|An unexpected|Storage un|Insufficient|un)/.test(message),
    )
    expect([...written, ...made]).to.have.members(documented)
    expect(made).to.have.length(6)
  })

  it('name fields that there are a row for, each', () => {
    for (const field of messages.flatMap(({ third }) => quoted(third))) {
      expect(field === '/ready' || otherTypes.has(field), field).to.be.true
    }
  })
})
