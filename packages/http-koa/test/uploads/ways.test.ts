import { expect } from 'chai'
import { exchange } from '@holdfast/testing'
import { collectAudit } from '../support/collected-audit.ts'
import { customerRequest, filePart, form, formType, request, textPart } from '../support/request.ts'
import { runApp } from '../support/running-app.ts'

const large = 'x'.repeat(300_000)
const once = { 'If-None-Match': '*' }
const typed = { ...once, 'Content-Type': formType }
const query = async (url: string) => {
  const made = customerRequest('POST', '/link/taken.txt', {}, '{"verb":"upload","replace":true}')
  const answer = await exchange(Number(new URL(url).port), made)
  const { url: linkUrl } = JSON.parse(answer.body) as { readonly url: string }
  return new URL(linkUrl).search
}

/** Every way of an upload, of the file `taken.txt`. */
const ways: Readonly<Record<string, (link: string) => Buffer>> = {
  'a simple form': () => customerRequest('POST', '/upload', typed, form(filePart('taken.txt'))),
  'a form with a field': () =>
    customerRequest('POST', '/upload', typed, form(textPart('a', 'b'), filePart('taken.txt'))),
  'a large form': () =>
    customerRequest('POST', '/upload', typed, form(filePart('taken.txt', large))),
  'a batch': () => customerRequest('POST', '/upload/batch', typed, form(filePart('taken.txt'))),
  PUT: () => customerRequest('PUT', '/upload/taken.txt', once, 'content'),
  'a large PUT': () => customerRequest('PUT', '/upload/taken.txt', once, large),
  'PUT by a link': (link) => request('PUT', `/upload/taken.txt${link}`, once, 'content'),
  'a form by a link': (link) =>
    request('POST', `/upload/taken.txt${link}`, typed, form(filePart('other'))),
  tus: () =>
    customerRequest('POST', '/resumable', {
      ...once,
      'Tus-Resumable': '1.0.0',
      'Upload-Length': 7,
      'Upload-Metadata': `filename ${Buffer.from('taken.txt').toString('base64')}`,
    }),
  'the draft': () =>
    customerRequest(
      'PUT',
      '/upload/taken.txt',
      { ...once, 'Upload-Complete': '?1', 'Upload-Draft-Interop-Version': 8 },
      'content',
    ),
}

describe('Each way of an upload', () => {
  for (const [way, make] of Object.entries(ways)) {
    it(`replaces nothing where that is its condition, and is recorded by its name: ${way}`, async () => {
      const { audit, events } = collectAudit()
      await using app = await runApp({ audit, resumableDraft: true })
      const first = customerRequest('PUT', '/upload/taken.txt', {}, 'earlier')
      expect((await exchange(app.port, first)).status).to.equal(200)
      const answer = await exchange(app.port, make(await query(app.url)))
      expect(`${answer.status} ${answer.body}`).to.include('412')
      expect((await app.files.stat('taken.txt')).size).to.equal(7)
      const { event, outcome, reason, file } = events.at(-1) ?? {}
      expect([event, outcome, reason, file]).to.deep.equal([
        'upload',
        'refused',
        'already-exists',
        'taken.txt',
      ])
    })
  }
})
