import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { findNames } from '../../../src/remote/completion/answer-shell.ts'
import { profilePath, writeProfile } from '../../../src/remote/profile.ts'

describe('findNames', () => {
  let server: Server
  let count = 0
  let asked: string[] = []
  const variables = ['HOLDFAST_URL', 'HOLDFAST_NAME', 'HOLDFAST_PASSWORD', 'XDG_CONFIG_HOME']
  const before = new Map(variables.map((name) => [name, process.env[name]]))

  beforeEach(async () => {
    asked = []
    server = createServer((request, response) => {
      asked.push(new URL(request.url ?? '', 'http://x').searchParams.get('prefix') ?? '')
      response.end(JSON.stringify(Array.from({ length: count }, (_, index) => `a${index}`)))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    process.env['HOLDFAST_URL'] = `http://127.0.0.1:${port}`
    process.env['HOLDFAST_NAME'] = 'demo'
    process.env['HOLDFAST_PASSWORD'] = 'correct horse'
    process.env['XDG_CONFIG_HOME'] = `${tmpdir()}/none`
  })
  afterEach(() => {
    server.closeAllConnections()
    server.close()
    for (const [name, value] of before) {
      if (value === undefined) Reflect.deleteProperty(process.env, name)
      else process.env[name] = value
    }
  })

  it('finds the names that begin so', async () => {
    count = 2
    expect(await findNames('a')).to.deep.equal(['a0', 'a1'])
    expect(asked).to.deep.equal(['a'])
  })

  it('finds the profiles, and names by the login of one', async () => {
    await using home = await makeTemporaryDirectory()
    process.env['XDG_CONFIG_HOME'] = home.path
    count = 1
    const login = { url: process.env['HOLDFAST_URL'] ?? '', name: 'demo', password: 'x' }
    for (const profile of ['work', 'home']) {
      await writeProfile(profilePath(process.env, profile), login)
    }
    expect(await findNames('', '--profile')).to.deep.equal(['home', 'work'])
    expect(await findNames('w', '--profile')).to.deep.equal(['work'])
    expect(asked).to.deep.equal([])
    for (const name of variables.slice(0, 3)) Reflect.deleteProperty(process.env, name)
    expect(await findNames('a', 'get')).to.deep.equal([])
    expect(await findNames('a', 'get', 'work')).to.deep.equal(['a0'])
  })

  it('finds none where they are too many for one request', async () => {
    count = 1000
    expect(await findNames('a')).to.deep.equal([])
    expect(asked).to.deep.equal(['a'])
  })

  it('finds none without a login, and asks no server', async () => {
    for (const name of variables.slice(0, 3)) Reflect.deleteProperty(process.env, name)
    expect(await findNames('a')).to.deep.equal([])
    expect(asked).to.deep.equal([])
  })

  it('finds none where the server does not answer as it should', async () => {
    server.close()
    expect(await findNames('a')).to.deep.equal([])
  })
})
