import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { expect } from 'chai'
import { uploadByTus } from '../load/upload-by-tus.ts'

const creation = { method: 'POST', path: '/files', headers: { 'x-auth-name': 'demo' } }
const MiB = 1024 ** 2

describe('uploadByTus', () => {
  it('sends the first piece with the creation, and the others where that says', async () => {
    const requests = await requestsOf([1, MiB + 1, 2])
    const [created, ...patches] = requests
    expect(created).to.include({ method: 'POST', url: '/files', size: 1 })
    expect(created?.headers).to.include({ 'upload-length': `${MiB + 4}`, 'x-auth-name': 'demo' })
    expect(patches.map(({ method, url, size }) => [method, url, size])).to.deep.equal([
      ['PATCH', '/files/one', MiB + 1],
      ['PATCH', '/files/one', 2],
    ])
    expect(patches.map(({ headers }) => headers['upload-offset'])).to.deep.equal([
      '1',
      `${MiB + 2}`,
    ])
    // Servers take it for the declaration of a length that was deferred.
    expect(patches[0]?.headers).not.to.have.property('upload-length')
  })

  it('sends nothing with the creation if the first piece is empty', async () => {
    const [created, patch] = await requestsOf([0, 5])
    expect(created).to.include({ method: 'POST', size: 0 })
    expect(created?.headers).not.to.have.property('content-type')
    expect(patch).to.include({ method: 'PATCH', size: 5 })
  })

  it('rejects if the server has not stored all of it', async () => {
    const failure = await requestsOf([0, 5], 1).catch((error: unknown) => error)
    expect(failure).to.have.property('message', '4 of 5 bytes were stored')
  })
})

interface Seen extends Pick<IncomingMessage, 'method' | 'url' | 'headers'> {
  readonly size: number
}

/** What a server that keeps all bytes but `lost` gets. */
async function requestsOf(pieces: readonly number[], lost = 0): Promise<readonly Seen[]> {
  const seen: Seen[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method, url, headers } = request
    seen.push({ method, url, headers, size: (await buffer(request)).length })
    const stored = seen.reduce((sum, { size }) => sum + size, -lost)
    response.writeHead(201, { Location: 'files/one', 'Upload-Offset': `${stored}` }).end()
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await uploadByTus((server.address() as AddressInfo).port, creation, pieces)
  } finally {
    server.close()
  }
  return seen
}
