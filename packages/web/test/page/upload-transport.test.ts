import { until } from '@holdfast/testing'
import { expect } from 'chai'
import type { Connection } from '../../page/api/connection.ts'
import { createTabLocks, openStorage } from '../../page/browser/storage-and-timers.ts'
import {
  openUnfinishedUploads,
  type UnfinishedUpload,
} from '../../page/uploads/unfinished-uploads.ts'
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

  /** As large that also a client in Node sends it in pieces. */
  const film = new Uint8Array(17 * 1024 * 1024)
  const large = () => new File([film], 'film.bin', { lastModified: 5 })
  const earlier = {
    ...{ name: 'a', size: film.length, lastModified: 5, sent: 0, replaces: false },
    address: 'http://files.example/resumable/1',
  }

  /** Sends a large file, once or several times, after the browser has recorded these unfinished uploads. */
  async function openLarge(recorded: readonly UnfinishedUpload[], isListed = false) {
    const { createUploadTransport } = (await import(subject)) as CreateUploadTransport
    const { connection, asked, lines } = fakeConnection()
    const storage = openStorage(() => {
      throw new Error('The browser keeps nothing')
    })
    const unfinished = openUnfinishedUploads('anna', storage, createTabLocks({}))
    for (const upload of recorded) unfinished.record(upload)
    const rate = { meter: () => ({ sent() {}, stored() {} }) }
    const transport = createUploadTransport(connection, {
      ...{ ...context, unfinished, rate },
      isListed: () => isListed,
    })
    const send = async (item = createUploadItem(large(), 'a')) => {
      const ended = new AbortController()
      transport.send(item, ended.signal, () => {}).catch(() => {})
      await settled()
      const cancel = async () => {
        ended.abort()
        transport.discard(item)
        await settled()
      }
      return { cancel }
    }
    return { send, asked, lines }
  }

  const createdAt = (path: string) =>
    new Response(null, {
      status: 201,
      headers: { 'Tus-Resumable': '1.0.0', Location: `/${path}` },
    })

  it('leaves an upload to the item that sends it where the same file is added again', async () => {
    const { send, asked, lines } = await openLarge([])
    await send()
    await asked[0]?.answer(createdAt('resumable/1'))
    const isSent = (path: string) => () => lines().includes(`PATCH ${path}`)
    await until('the first one sends', isSent('resumable/1'))
    const second = await send()
    expect(lines()).to.deep.equal(['POST resumable', 'PATCH resumable/1', 'POST resumable'])
    await asked[2]?.answer(createdAt('resumable/2'))
    await until('the second one sends', isSent('resumable/2'))
    await second.cancel()
    expect(lines().slice(4)).to.deep.equal(['DELETE resumable/2'])
  })

  it('continues an earlier upload by one item only where the file is added twice', async () => {
    const { send, lines } = await openLarge([earlier])
    await send()
    await send()
    expect(lines()).to.deep.equal(['HEAD resumable/1', 'POST resumable'])
  })

  it('looks for its own earlier upload before it looks whether the name is taken', async () => {
    const { send, lines } = await openLarge([earlier], true)
    await send()
    expect(lines()).to.deep.equal(['HEAD resumable/1'])
    const replaced = await openLarge([{ ...earlier, replaces: true }], true)
    await replaced.send()
    expect(replaced.lines()).to.deep.equal(['HEAD serve/a'])
  })
})
