import { curl } from '@holdfast/testing'
import { expect } from 'chai'
import { expectError, expectOk, type Answer } from '../support/answer.ts'
import { formData } from '../support/customer-client.ts'
import { filePart, form, formType } from '../support/form.ts'
import { requestHead } from '../support/request-head.ts'
import { anna, type RunningService, type StartService } from '../support/running-service.ts'

const name = 'x-auth-name'
const password = 'x-auth-password'

const guarded = [
  ['POST', '/upload'],
  ['PUT', '/upload/a.txt'],
  ['POST', '/upload/batch'],
  ['GET', '/serve/a.txt'],
  ['GET', '/serve/'],
  ['DELETE', '/delete/a.txt'],
  ['DELETE', '/delete/'],
  ['POST', '/delete/batch'],
  ['POST', '/serve/batch'],
  ['GET', '/list'],
] as const

type AuthHeaders = Readonly<Record<string, string | readonly string[]>>

async function listWith(service: RunningService, headers: AuthHeaders): Promise<Answer> {
  return service.exchange(requestHead('GET', '/list', headers))
}

export function authentication(start: StartService): void {
  describe('authentication', () => {
    for (const [method, path] of guarded) {
      it(`refuses ${method} ${path} without the headers: 400 No auth headers`, async () => {
        await using service = await start()
        expectError(await service.exchange(requestHead(method, path)), 400, 'No auth headers')
      })
    }

    it('answers No auth headers when one header is missing', async () => {
      await using service = await start()
      expectError(await listWith(service, { [name]: 'anna' }), 400, 'No auth headers')
      expectError(await listWith(service, { [password]: anna.password }), 400, 'No auth headers')
    })

    it('answers No auth headers when one header is empty', async () => {
      await using service = await start()
      const noPassword = { [name]: 'anna', [password]: '' }
      expectError(await listWith(service, noPassword), 400, 'No auth headers')
      const noName = { [name]: ' ', [password]: anna.password }
      expectError(await listWith(service, noName), 400, 'No auth headers')
    })

    it('never takes a header that is sent twice, not even for a customer called "a, b"', async () => {
      const joined = { name: 'a, b', password: 'p, q' }
      await using service = await start({ customers: [anna, joined] })
      const right = { [name]: 'anna', [password]: anna.password }
      const doubled: readonly AuthHeaders[] = [
        { ...right, [name]: ['anna', 'anna'] },
        { ...right, [password]: [anna.password, anna.password] },
        { ...right, [name]: ['anna', ''] },
        { [name]: ['a', 'b'], [password]: 'p, q' },
        { [name]: 'a, b', [password]: ['p', 'q'] },
      ]
      for (const headers of doubled) {
        const answer = await listWith(service, headers)
        expect(answer.bytes.toString()).to.match(/"No auth headers"|"Invalid credentials"/)
        expect(answer.status).to.equal(400)
      }
    })

    it('answers wrong password and unknown customer the same to the byte: Invalid credentials', async () => {
      await using service = await start()
      const wrong = await listWith(service, { [name]: 'anna', [password]: 'wrong' })
      const unknown = await listWith(service, { [name]: 'nobody', [password]: 'wrong' })
      expectError(wrong, 400, 'Invalid credentials')
      expect(unknown.bytes).to.deep.equal(wrong.bytes)
      expect(comparable(unknown)).to.deep.equal(comparable(wrong))
    })

    it('spends the same time on both: one hash each', async () => {
      await using service = await start()
      await listWith(service, { [name]: 'anna', [password]: 'wrong' })
      expect(service.hashes()).to.equal(1)
      await listWith(service, { [name]: 'nobody', [password]: 'wrong' })
      expect(service.hashes()).to.equal(2)
    })

    it('takes names that are no customers for none, such as those of Object.prototype', async () => {
      await using service = await start()
      for (const stranger of ['__proto__', 'constructor', 'ANNA', 'ann', 'anna ', 'anna\u0301']) {
        const client = service.as({ name: stranger, password: anna.password })
        const expected = stranger === 'anna ' ? 'No files uploaded yet' : 'Invalid credentials'
        // HTTP strips the white space around a header's value.
        expectError(await client.list(), 400, expected)
      }
    })

    it('reads names and passwords as UTF-8: a customer zoë works with curl', async () => {
      const zoe = { name: 'zoë', password: 'pässwörd 密码' }
      await using service = await start({ customers: [zoe] })
      const { stdout } = await curl([
        ...['-H', `x-auth-name: ${zoe.name}`, '-H', `x-auth-password: ${zoe.password}`],
        ...['-F', 'file=@-;filename=a.txt', `${service.url}/upload`],
      ])
      expect(stdout.toString()).to.equal('OK')
      expect(await service.as(zoe).names()).to.deep.equal(['a.txt'])
    })

    it('finds header names in any case', async () => {
      await using service = await start()
      const answer = await listWith(service, {
        'X-Auth-Name': 'anna',
        'X-AUTH-PASSWORD': anna.password,
      })
      expectError(answer, 400, 'No files uploaded yet')
    })

    it('knows no other scheme: neither Authorization, nor a cookie, nor a query', async () => {
      await using service = await start()
      const basic = Buffer.from(`anna:${anna.password}`).toString('base64')
      const query = new URLSearchParams({ [name]: anna.name, [password]: anna.password })
      const head = requestHead('GET', `/list?${query.toString()}`, {
        Authorization: `Basic ${basic}`,
        Cookie: `x-auth-name=anna; x-auth-password=${anna.password}`,
      })
      expectError(await service.exchange(head), 400, 'No auth headers')
    })
  })

  describe('order of checks', () => {
    const stranger = { [name]: 'anna', [password]: 'wrong' }

    it('judges credentials before the file name', async () => {
      await using service = await start()
      for (const path of ['/serve/%00', '/serve/', '/serve/a%2Fb', '/serve/absent']) {
        const answer = await service.exchange(requestHead('GET', path, stranger))
        expectError(answer, 400, 'Invalid credentials')
      }
    })

    it('judges credentials before the body', async () => {
      await using service = await start()
      const body = form(filePart('..', 'x'), filePart('b', 'y'))
      const headers = { ...stranger, 'Content-Type': formType, 'Content-Length': body.length }
      const answer = await service.exchange(requestHead('POST', '/upload', headers), body)
      expectError(answer, 400, 'Invalid credentials')
    })

    it('judges credentials before the store: a stranger does not learn that a file exists', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('here', 'x'))
      const client = service.as({ name: 'anna', password: 'wrong' })
      const answers = [await client.serve('here'), await client.serve('absent')]
      for (const answer of answers) expectError(answer, 400, 'Invalid credentials')
    })

    it('judges the file name before the body', async () => {
      await using service = await start()
      const digest = { 'Content-Digest': 'sha-256=:nonsense:' }
      const answer = await service.anna.put('a\nb', 'x', digest)
      expectError(answer, 400, 'Invalid filename: it contains a control character')
    })

    it('judges the body before the store', async () => {
      await using service = await start()
      const body = formData('a.txt', 'x', { sha256: 'nonsense' })
      const answer = await service.anna.send('POST', '/upload', { body })
      expect(answer.status).to.equal(400)
      expect(await service.anna.names()).to.deep.equal([])
    })
  })
}

/** The headers of an answer but for those that differ between any two. */
function comparable({ headers }: Answer): Record<string, string> {
  const { date: _date, 'x-request-id': _id, ...rest } = Object.fromEntries(headers)
  return rest
}
