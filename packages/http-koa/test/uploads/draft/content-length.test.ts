import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { expect } from 'chai'
import { auth, runApp } from '../../support/running-app.ts'

const version = { ...auth, 'Upload-Draft-Interop-Version': '8' }

describe('PATCH /uploads/:id', () => {
  it('takes a request without a length for one without content, as often as it comes', async () => {
    await using app = await runApp({ resumableDraft: true })
    const begun = await fetch(`${app.url}/upload/a.txt`, {
      method: 'PUT',
      headers: { ...version, 'Upload-Complete': '?0' },
      body: 'Hello',
    })
    const upload = new URL(begun.headers.get('location') ?? '', begun.url)
    const headers = {
      ...version,
      ...{ 'Content-Type': 'application/partial-upload' },
      ...{ 'Upload-Offset': '5', 'Upload-Complete': '?1' },
    }
    for (let time = 0; time < 2; time++) {
      const sending = request(upload, { method: 'PATCH', headers })
      sending.removeHeader('content-length')
      sending.removeHeader('transfer-encoding')
      const answered = once(sending, 'response')
      sending.end()
      const [answer] = (await answered) as [IncomingMessage]
      answer.resume()
      expect(answer.statusCode, `time ${time}`).to.equal(200)
    }
  })
})
