import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { createStoreAccess } from '../../src/minio-blob-store.ts'
import { createTrialObjects } from '../../src/bucket/trial-objects.ts'
import { createRivalsStep } from '../../src/inspect/rival-writers.ts'

/** Takes a PUT with `If-None-Match: *`, and resolves with the status of the answer. */
type Create = (objects: Map<string, string>, path: string, content: string) => Promise<number>

/** Starts an S3 server that keeps objects in memory, and creates them by `create`. */
async function startServer(create: Create) {
  const objects = new Map<string, string>()
  const answer = async ({ method, url = '' }: IncomingMessage, body: string) => {
    const [path = ''] = url.split('?')
    if (method === 'PUT') return { status: await create(objects, path, body), content: '' }
    if (method === 'DELETE') return { status: objects.delete(path) ? 204 : 404, content: '' }
    const content = objects.get(path)
    return { status: content === undefined ? 404 : 200, content: content ?? '' }
  }
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    void text(request)
      .then((body) => answer(request, body))
      .then(({ status, content }) => response.writeHead(status, { etag: '"x"' }).end(content))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    objects,
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

const inOneStep: Create = async (objects, path, content) => {
  if (objects.has(path)) return 412
  objects.set(path, content)
  return 200
}

/** Looks first, and writes when `writers` have looked. */
const inTwoSteps = (writers: number): Create => {
  const all = Promise.withResolvers<undefined>()
  let looked = 0
  return async (objects, path, content) => {
    if (objects.has(path)) return 412
    if (++looked === writers) all.resolve(undefined)
    await all.promise
    objects.set(path, content)
    return 200
  }
}

describe('createRivalsStep', () => {
  const findingOf = async (create: Create) => {
    await using server = await startServer(create)
    const { endpoint, objects } = server
    const { client } = createStoreAccess({
      endpoint,
      bucket: 'files',
      accessKey: 'holdfast',
      secretKey: 'correct horse',
    })
    try {
      const trial = createTrialObjects(client.s3, 'files', '')
      const { mark, message } = await createRivalsStep(client.changing).run(trial)
      expect([...objects.keys()], 'left').to.deep.equal([])
      return `${mark}: ${message}`
    } finally {
      client.close()
    }
  }

  it('is content with a server that lets one of them create the file', async () => {
    expect(await findingOf(inOneStep)).to.equal('ok: 32 create the same file: one won')
  })

  it('warns of a server that looks and writes in two steps', async () => {
    expect(await findingOf(inTwoSteps(32))).to.equal(
      'warning: 32 of 32 that create the same file at once succeed; one should',
    )
  })

  it('warns of a server that keeps the content of another one', async () => {
    expect(
      await findingOf(async (objects, path, content) => {
        const status = await inOneStep(objects, path, 'first')
        if (status !== 200) objects.set(path, content)
        return status
      }),
    ).to.equal(
      'warning: one of 32 that create the same file at once succeeds, but the content of another is kept',
    )
  })

  it('tries again where no one has won: an answer may have been lost', async () => {
    const first = new Set<string>()
    expect(
      await findingOf(async (objects, path, content) => {
        if (first.size === 0) first.add(path)
        return first.has(path) ? 412 : inOneStep(objects, path, content)
      }),
    ).to.equal('ok: 32 create the same file: one won')
    expect(await findingOf(async () => 409)).to.equal(
      'warning: 0 of 32 that create the same file at once succeed; one should',
    )
  })
})
