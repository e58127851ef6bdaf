import { expect } from 'chai'
import type { Connection } from '../../page/api/connection.ts'
import { createUploadItem } from '../../page/uploads/upload-item.ts'
import type { UploadTransport } from '../../page/uploads/upload-queue.ts'
import { fakeConnection, settled } from './fake-connection.ts'

interface CreateUploadTransport {
  readonly createUploadTransport: (connection: Connection, context: object) => UploadTransport
}

/** Not by its name, since its types are those of a browser, which the tests in Node have not. */
const subject = new URL('../../page/uploads/create-uploads.ts', import.meta.url).href

describe('createUploadTransport', () => {
  const context = {
    unfinished: { find: () => undefined },
    rate: { meter: () => () => {} },
    finishDeletion: () => Promise.resolve(),
    isListed: () => false,
  }
  const files: Readonly<Record<string, () => File>> = {
    'has no size, since the browser may not read it': () =>
      Object.assign(new File([], 'a.txt'), {
        arrayBuffer: () => Promise.reject(new DOMException('Not there', 'NotFoundError')),
      }),
    'changes while it is read': () =>
      Object.assign(new File(['12345'], 'a.txt'), {
        slice: () => ({
          arrayBuffer: () => Promise.reject(new DOMException('Changed', 'NotReadableError')),
        }),
      }),
    'has become longer': () =>
      Object.assign(new File(['12345'], 'a.txt'), {
        arrayBuffer: async () => new ArrayBuffer(6),
      }),
  }
  for (const [what, make] of Object.entries(files)) {
    it(`sends nothing of a file that ${what}`, async () => {
      const { createUploadTransport } = (await import(subject)) as CreateUploadTransport
      const { connection, lines } = fakeConnection()
      const transport = createUploadTransport(connection, context)
      const item = createUploadItem(make(), 'a.txt')
      const failure = await transport
        .send(item, new AbortController().signal, () => {})
        .catch(String)
      expect(failure).to.equal('ExplainedError: errorUnreadable')
      expect(lines()).to.deep.equal([])
    })
  }

  it('recognises its file after a lost answer, whatever came between that and the conflict', async () => {
    const { createUploadTransport } = (await import(subject)) as CreateUploadTransport
    const { connection, asked, lines } = fakeConnection()
    const transport = createUploadTransport(connection, context)
    // A smaller one would share its request.
    const content = 'x'.repeat(300_000)
    const item = createUploadItem(new File([content], 'a.txt'), 'a.txt')
    async function send(end: (request: (typeof asked)[number]) => Promise<void>) {
      const sending = transport.send(item, new AbortController().signal, () => {}).catch(String)
      await settled()
      await end(asked.at(-1)!)
      return sending
    }
    expect(await send((put) => put.breakOff())).to.include('No answer')
    expect(await send((put) => put.fail(503))).to.include('HoldfastError')
    const conflict = send((put) => put.fail(412))
    await settled()
    await asked[3]?.answer(
      new Response(null, { headers: { 'Content-Length': String(content.length) } }),
    )
    await asked[4]?.answer(new Response(content))
    expect(await conflict).to.equal(undefined)
    expect(lines()).to.deep.equal([
      ...Array<string>(3).fill('PUT upload/a.txt'),
      'HEAD serve/a.txt',
      'GET serve/a.txt',
    ])
  })
})
