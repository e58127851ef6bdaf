import { rejection } from '@holdfast/testing'
import { expect } from 'chai'
import type { HoldfastError, RereadableBody } from '../src/index.ts'
import { contentOf, mebibyte } from './support/content.ts'
import { clientOf, login } from './support/running-service.ts'
import { useService } from './support/use-service.ts'

describe('A password that changes', function () {
  this.timeout(60_000)
  const service = useService()

  it('is asked for before each request', async () => {
    let password = 'wrong'
    const refusals: HoldfastError[] = []
    const client = clientOf(service, {
      password: () => password,
      onRefused: (error) => refusals.push(error),
    })
    expect(await rejection(client.usage())).to.include({ code: 'invalid-credentials' })
    expect(refusals.map(({ code }) => code)).to.deep.equal(['invalid-credentials'])
    password = login.password
    expect(await client.usage()).to.include({ files: 0 })
    expect(refusals).to.have.length(1)
  })

  it('is shown again where it has changed since the request', async () => {
    const passwords = ['wrong']
    const refusals: HoldfastError[] = []
    const client = clientOf(service, {
      retries: 0,
      password: () => passwords.shift() ?? login.password,
      onRefused: (error) => refusals.push(error),
    })
    expect(await client.usage()).to.include({ files: 0 })
    expect(refusals).to.deep.equal([])
  })

  it('lets an upload go on where it is, with other words for HEAD than for the rest', async () => {
    const bytes = contentOf(20 * mebibyte)
    let password = 'wrong'
    let url = ''
    let slices = 0
    const breaking: RereadableBody = {
      size: bytes.length,
      async *slice(start, end) {
        slices += 1
        yield bytes.subarray(start, end)
        if (slices === 1) throw new Error('the disk is broken')
      },
    }
    const first = clientOf(service).upload('file', breaking, {
      onUploadUrl: (given) => void (url = given),
    })
    await rejection(first)
    const refusals: string[] = []
    const client = clientOf(service, {
      retries: 0,
      password: () => password,
      onRefused: ({ code }) => refusals.push(code),
    })
    const again = () => client.upload('file', breaking, { uploadUrl: url })
    expect(await rejection(again())).to.include({ code: 'invalid-credentials' })
    expect(refusals).to.deep.equal(['invalid-credentials'])
    password = login.password
    await again()
    expect(await (await client.download('file')).bytes()).to.have.length(bytes.length)
    expect(service.requests.filter((request) => request === 'POST /resumable')).to.have.length(1)
  })

  it('ends a request with what its function throws, and sends nothing', async () => {
    const failure = new Error('there is no terminal')
    const client = clientOf(service, {
      password() {
        throw failure
      },
    })
    expect(await rejection(client.usage())).to.equal(failure)
    expect(await rejection(client.upload('a', 'b'))).to.equal(failure)
    expect(service.requests).to.deep.equal([])
  })

  it('sends no stream twice', async () => {
    const passwords = ['wrong']
    const client = clientOf(service, { password: () => passwords.shift() ?? login.password })
    const stream = async function* () {
      yield contentOf(9 * mebibyte)
    }
    await client.upload('file', stream())
    expect(await client.stat('file')).to.include({ size: 9 * mebibyte })
  })
})

describe('A transport of the caller', () => {
  it('sends all requests', async () => {
    const asked: string[] = []
    const client = clientOf(
      { port: 1 },
      {
        transport: async ({ method, url, headers, keepalive = false }) => {
          asked.push(
            `${method} ${url.pathname} ${headers['x-auth-password'] !== undefined} ${keepalive}`,
          )
          return {
            status: 200,
            header: (name) => (name === 'etag' ? '"1"' : undefined),
            body: (async function* () {
              yield new TextEncoder().encode('OK')
            })(),
          }
        },
      },
    )
    await client.delete('a', { keepalive: true })
    await client.upload('b', 'c')
    expect(asked).to.deep.equal(['DELETE /delete/a true true', 'PUT /upload/b true false'])
  })
})
