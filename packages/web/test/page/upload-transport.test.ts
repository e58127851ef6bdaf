import { expect } from 'chai'
import type { Connection } from '../../page/api/connection.ts'
import { createUploadItem } from '../../page/uploads/upload-item.ts'
import type { Transport } from '../../page/uploads/upload-queue.ts'
import { fakeConnection, settled } from './fake-connection.ts'

interface CreateUploadTransport {
  readonly createUploadTransport: (connection: Connection, context: object) => Transport
}

/** Not by its name, since its types are those of a browser, which the tests in Node have not. */
const subject = new URL('../../page/uploads/upload-transport.ts', import.meta.url).href

describe('createUploadTransport', () => {
  /** The uploads that wait for an answer: with status 0 the line breaks. */
  let sent: ((status: number) => Promise<void>)[]

  beforeEach(() => {
    sent = []
    const XMLHttpRequest = function (this: Record<string, unknown>) {
      const request = {
        upload: {},
        status: 0,
        responseText: '',
        onload: () => {},
        onerror: () => {},
        open: () => {},
        setRequestHeader: () => {},
        getResponseHeader: () => null,
        send: () =>
          void sent.push(async (status) => {
            request.status = status
            if (status === 0) request.onerror()
            else request.onload()
            await settled()
          }),
      }
      return request
    }
    Object.assign(globalThis, { XMLHttpRequest })
  })
  afterEach(() => {
    Object.assign(globalThis, { XMLHttpRequest: undefined })
  })

  it('recognises its file after a lost answer, whatever came between that and the conflict', async () => {
    const { createUploadTransport } = (await import(subject)) as CreateUploadTransport
    const { connection, asked } = fakeConnection()
    const transport = createUploadTransport(connection, {
      rate: { meter: () => () => {} },
      settle: () => Promise.resolve(),
    })
    const item = createUploadItem(new File(['12345'], 'a.txt'), 'a.txt')
    async function send(status: number) {
      const sending = transport.send(item, new AbortController().signal, () => {}).catch(String)
      await settled()
      await sent.at(-1)?.(status)
      return sending
    }
    expect(await send(0)).to.include('No answer')
    expect(await send(503)).to.include('ApiError')
    const conflict = send(412)
    await settled()
    await asked[0]?.answer(new Response(null, { headers: { 'Content-Length': '5' } }))
    await asked[1]?.answer(new Response('12345'))
    expect(await conflict).to.equal(undefined)
    expect(asked).to.have.length(2)
  })
})
