import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { expectError, expectOk } from '../support/answer.ts'
import { expectNoLitter } from '../support/expect-no-litter.ts'
import { filePart, form, textPart } from '../support/form.ts'
import type { StartService } from '../support/running-service.ts'
import { sendForm } from '../support/send-form.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const contentDigest = (text: string) => ({
  'Content-Digest': `sha-256=:${createHash('sha256').update(text).digest('base64')}:`,
})

const file = filePart('a.txt', 'new')
const right = textPart('sha256', sha256('new'))
const wrong = textPart('sha256', sha256('old'))
const mismatch = 'Digest mismatch'

export function digest(start: StartService): void {
  describe('digest in the text field sha256', () => {
    it('is accepted before or after the file, in lower and upper case', async () => {
      await using service = await start()
      const upper = textPart('sha256', sha256('new').toUpperCase())
      for (const body of [form(right, file), form(file, right), form(file, upper)]) {
        expectOk(await sendForm(service, body))
      }
      expect(await service.anna.text('a.txt')).to.equal('new')
    })

    it('is checked before the file becomes visible; mismatch: 400, nothing stored', async () => {
      await using service = await start()
      for (const body of [form(wrong, file), form(file, wrong)]) {
        expectError(await sendForm(service, body), 400, mismatch)
        expect(await service.anna.names()).to.deep.equal([])
        await expectNoLitter(service)
      }
    })

    it('leaves the old file on a mismatch', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a.txt', 'old'))
      expectError(await sendForm(service, form(file, wrong)), 400, mismatch)
      expect(await service.anna.text('a.txt')).to.equal('old')
    })

    it('is refused where it is no digest, or comes twice', async () => {
      await using service = await start()
      const refusal = 'Invalid sha256: it must be sent once, as 64 hexadecimal digits'
      for (const value of ['', 'nonsense', sha256('new').slice(1), `${sha256('new')}0`]) {
        const answer = await sendForm(service, form(file, textPart('sha256', value)))
        expectError(answer, 400, refusal)
      }
      expectError(await sendForm(service, form(right, file, right)), 400, refusal)
      expect(await service.anna.names()).to.deep.equal([])
    })

    it('covers an empty file', async () => {
      await using service = await start()
      const body = form(filePart('empty', ''), textPart('sha256', sha256('')))
      expectOk(await sendForm(service, body))
    })
  })

  describe('digest in Content-Digest on a raw upload (RFC 9530)', () => {
    it('is accepted when it is right, among others that are not known', async () => {
      await using service = await start()
      expectOk(await service.anna.put('a', 'new', contentDigest('new')))
      const several = { 'Content-Digest': `md5=:AAAA:, ${contentDigest('new')['Content-Digest']}` }
      expectOk(await service.anna.put('a', 'new', several))
    })

    it('is checked before the file becomes visible; mismatch: 400, nothing stored', async () => {
      await using service = await start()
      expectError(await service.anna.put('a', 'new', contentDigest('old')), 400, mismatch)
      expect(await service.anna.names()).to.deep.equal([])
      expectOk(await service.anna.put('a', 'old'))
      expectError(await service.anna.put('a', 'new', contentDigest('old')), 400, mismatch)
      expect(await service.anna.text('a')).to.equal('old')
      await expectNoLitter(service)
    })

    it('is refused where it is malformed', async () => {
      await using service = await start()
      for (const value of ['sha-256=abc', 'sha-256=:abc:', 'sha-256=']) {
        const answer = await service.anna.put('a', 'new', { 'Content-Digest': value })
        expect(answer.status).to.equal(400)
      }
      expect(await service.anna.names()).to.deep.equal([])
    })
  })
}
