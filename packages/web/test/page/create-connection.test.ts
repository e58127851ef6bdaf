import { until } from '@holdfast/testing'
import { expect } from 'chai'
import type { Connection, CustomerCredentials } from '../../page/api/connection.ts'
import { settled } from './fake-connection.ts'

interface CreateConnection {
  readonly createConnection: (credentials: CustomerCredentials) => Connection
}

/** Not by its name, since its types are those of a browser, which the tests in Node have not. */
const subject = new URL('../../page/api/create-connection.ts', import.meta.url).href

const refusal = () =>
  Response.json(
    { statusCode: 400, error: 'Bad Request', message: 'Invalid credentials' },
    { status: 400 },
  )

describe('createConnection', () => {
  const { fetch } = globalThis
  /** The requests that wait for an answer. */
  let asked: {
    readonly password: string | null
    readonly answer: (response: Response | Promise<Response>) => void
  }[]
  let connection: Connection

  beforeEach(async () => {
    asked = []
    Object.assign(globalThis, {
      // A page has it, and Node has not.
      document: { baseURI: 'http://files.example/' },
      fetch: (_url: URL, { headers }: RequestInit) =>
        new Promise<Response>((answer) => {
          asked.push({ password: new Headers(headers).get('x-auth-password'), answer })
        }),
    })
    const { createConnection } = (await import(subject)) as CreateConnection
    connection = createConnection({ customer: 'anna', password: 'old' })
  })
  afterEach(() => {
    Object.assign(globalThis, { fetch, document: undefined })
  })

  const list = async () => {
    const names: string[] = []
    for await (const name of connection.client.list()) names.push(name)
    return names
  }

  it('is refused when the server refuses the password', async () => {
    const failed = list().catch(String)
    asked[0]?.answer(refusal())
    expect(await failed).to.include('Invalid credentials')
    expect(connection.isRefused.value).to.equal(true)
  })

  it('sends nothing more with a password that was refused, since each would count as a guess', async () => {
    const first = list().catch(String)
    asked[0]?.answer(refusal())
    await first
    expect(await list().catch(String)).to.include('Invalid credentials')
    expect(asked).to.have.length(1)
    connection.renew('new')
    const listed = list()
    asked[1]?.answer(new Response('[]'))
    expect(await listed).to.deep.equal([])
  })

  it('sends anew what was refused for a password that has been renewed meanwhile', async () => {
    const listed = list()
    connection.renew('new')
    asked[0]?.answer(refusal())
    await settled()
    await settled()
    expect(connection.isRefused.value).to.equal(false)
    expect(asked.map(({ password }) => password)).to.deep.equal(['old', 'new'])
    asked[1]?.answer(new Response('[]'))
    expect(await listed).to.deep.equal([])
  })

  it('resumes a download whose connection breaks, and nothing else by itself', async () => {
    const broken = () => Promise.reject(new TypeError('The connection failed'))
    const listed = list().catch(String)
    asked[0]?.answer(broken())
    expect(await listed).to.include('No answer')
    const downloaded = connection.downloads.download('a').then((file) => file.text())
    asked[1]?.answer(broken())
    await until('it is requested again', () => asked.length === 3)
    const headers = {
      ...{ 'Content-Length': '3', 'Content-Disposition': 'attachment', ETag: '"1"' },
      ...{ 'Content-Type': 'text/plain', 'Last-Modified': new Date(0).toUTCString() },
    }
    asked[2]?.answer(new Response('abc', { headers }))
    expect(await downloaded).to.equal('abc')
  })
})
