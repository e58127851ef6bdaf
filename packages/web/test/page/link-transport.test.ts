import { createLinkClient, type LinkClient, type Transport } from '@holdfast/client/browser'
import { expect } from 'chai'
import { createUploadItem } from '../../page/uploads/upload-item.ts'
import type { UploadTransport } from '../../page/uploads/upload-queue.ts'
import { openUnfinishedUploads } from '../../page/uploads/unfinished-uploads.ts'
import { createTabLocks, openStorage } from '../../page/browser/storage-and-timers.ts'

interface CreateLinkTransport {
  readonly createLinkTransport: (
    client: LinkClient,
    terms: object,
    context: object,
  ) => UploadTransport
}

/** Not by its name, since its types are those of a browser, which the tests in Node have not. */
const subject = new URL('../../page/by-link/link-transport.ts', import.meta.url).href

const terms = { customer: 'anna', name: 'in-', isPrefix: true, maxFiles: 9, replace: false }

describe('createLinkTransport', () => {
  /** Sends a small file to a server that answers each request with one of these. */
  async function send(answers: readonly (Response | undefined)[], more: object = {}) {
    return (await open(answers, more))()
  }

  /** A function that sends a small file once more; where the answer is left out, the connection breaks. */
  async function open(answers: readonly (Response | undefined)[], more: object = {}) {
    const { createLinkTransport } = (await import(subject)) as CreateLinkTransport
    const asked: string[] = []
    const transport: Transport = async ({ method, url }) => {
      const answer = answers[asked.length]
      asked.push(`${method} ${decodeURIComponent(url.pathname)}`)
      if (!answer) throw new Error('The connection failed')
      const { status, headers, body } = answer
      return { status, header: (name) => headers.get(name) ?? undefined, body: body ?? empty() }
    }
    const link = 'http://files.example/upload/in-?link=token'
    const client = createLinkClient({ link, retries: 0, transport })
    const item = createUploadItem(new File(['12345'], 'a.txt'), 'in-a.txt')
    const unfinished = openUnfinishedUploads('link', openStorage(noStorage), createTabLocks({}))
    const context = { unfinished, rate: { meter: () => ({ sent() {}, stored() {} }) } }
    const sending = createLinkTransport(client, { ...terms, ...more }, context)
    return async () => {
      const failure = await sending.send(item, new AbortController().signal, () => {}).catch(keyOf)
      return { asked, failure }
    }
  }

  it('sends a file under the next name that is free', async () => {
    expect(await send([refused(412), refused(412), stored()])).to.deep.equal({
      asked: ['PUT /upload/in-a.txt', 'PUT /upload/in-a (2).txt', 'PUT /upload/in-a (3).txt'],
      failure: undefined,
    })
  })

  it('says what the refusals of a link mean', async () => {
    const expired = refused(403, 'The link is wrong, or has expired')
    expect((await send([expired])).failure).to.equal('linkEnded')
    expect((await send([refused(413, 'Quota exceeded')])).failure).to.equal('linkFull')
    expect((await send([refused(412)], { isPrefix: false })).failure).to.equal('linkUsed')
    expect(await send([], { maxSize: 4 })).to.deep.equal({ asked: [], failure: 'linkTooLarge' })
  })

  for (const [what, answer] of [
    ['is taken', () => refused(412)],
    ['is one too many', () => refused(413, 'Quota exceeded')],
  ] as const) {
    it(`says that a file may have arrived whose answer was lost, and whose name then ${what}`, async () => {
      const send = await open([undefined, answer(), refused(412), stored()])
      expect((await send()).failure).to.have.property('code', 'no-answer')
      expect((await send()).failure).to.equal('linkUnsure')
      // The user wants to send it once more.
      expect(await send()).to.deep.equal({
        asked: [...Array<string>(3).fill('PUT /upload/in-a.txt'), 'PUT /upload/in-a (2).txt'],
        failure: undefined,
      })
    })
  }

  it('numbers a name that was taken before the answer was lost', async () => {
    const send = await open([refused(412), undefined, stored()])
    await send()
    expect(await send()).to.deep.equal({
      asked: ['PUT /upload/in-a.txt', 'PUT /upload/in-a (2).txt', 'PUT /upload/in-a (2).txt'],
      failure: undefined,
    })
  })
})

const stored = () => new Response('OK', { headers: { ETag: '"1"' } })
const refused = (status: number, message = 'Precondition Failed') =>
  Response.json({ statusCode: status, error: '', message }, { status })
const keyOf = (error: object) => ('key' in error ? error.key : error)
const empty = () => new Blob([]).stream()
const noStorage = () => {
  throw new Error('The browser keeps nothing')
}
