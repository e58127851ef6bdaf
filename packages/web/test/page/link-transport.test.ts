import { expect } from 'chai'
import { createUploadItem } from '../../page/uploads/upload-item.ts'
import type { Transport } from '../../page/uploads/upload-queue.ts'

interface CreateLinkTransport {
  readonly createLinkTransport: (options: object) => Transport
}

/** Not by its name, since its types are those of a browser, which the tests in Node have not. */
const subject = new URL('../../page/by-link/link-transport.ts', import.meta.url).href

const address = new URL('http://files.example/upload/film.bin?link=token')
const terms = {
  ...{ customer: 'anna', name: 'film.bin', isPrefix: false, maxFiles: 1, replace: false },
  expires: new Date(),
}

/** A file that is sent in pieces where the server takes these. */
const large = () => new File([new Uint8Array(16 * 1024 * 1024)], 'film.bin')

describe('createLinkTransport', () => {
  const { fetch, XMLHttpRequest } = globalThis as { fetch: unknown; XMLHttpRequest?: unknown }
  afterEach(() => void Object.assign(globalThis, { fetch, XMLHttpRequest }))

  for (const [what, status, lines] of [
    [
      'sends a large file as a whole where the server takes no pieces',
      404,
      ['POST /resumable?link=token&name=film.bin', 'PUT /upload/film.bin?link=token'],
    ],
    [
      'sends a large file in pieces where the server takes them',
      201,
      ['POST /resumable?link=token&name=film.bin', 'PATCH /resumable/1?link=token'],
    ],
  ] as const) {
    it(what, async () => {
      const { createLinkTransport } = (await import(subject)) as CreateLinkTransport
      const asked: string[] = []
      const note = (method: string, { pathname, search }: URL) =>
        void asked.push(`${method} ${pathname}${search}`)
      Object.assign(globalThis, {
        async fetch(url: URL, { method }: { method: string }) {
          note(method, new URL(url))
          return new Response(null, { status, headers: { Location: 'resumable/1?link=token' } })
        },
        XMLHttpRequest: class {
          readonly upload = {}
          status = 200
          onload = () => {}
          open = note
          setRequestHeader() {}
          send() {
            queueMicrotask(() => this.onload())
          }
        },
      })
      const transport = createLinkTransport({ terms, address, rate: { meter: () => () => {} } })
      const item = createUploadItem(large(), 'film.bin')
      await transport.send(item, new AbortController().signal, () => {})
      expect(asked).to.deep.equal(lines)
    })
  }
})
