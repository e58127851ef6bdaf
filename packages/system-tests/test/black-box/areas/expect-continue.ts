import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tmpdir } from 'node:os'
import { curl } from '@holdfast/testing'
import { expect } from 'chai'
import { expectError, expectOk } from '../support/answer.ts'
import { filePart, form } from '../support/form.ts'
import { requestHead } from '../support/request-head.ts'
import type { StartService } from '../support/running-service.ts'
import { formHead } from '../support/send-form.ts'

const wanted = { Expect: '100-continue' }

/** Far beyond a test's time limit: a curl that is not answered waits so long before it sends anyway. */
const patience = ['-H', 'Expect: 100-continue', '--expect100-timeout', '60']

export function expectContinue(start: StartService): void {
  describe('Expect: 100-continue', () => {
    it('is answered 100 and then OK, by form and by PUT', async () => {
      await using service = await start()
      using connection = await service.connect()
      const body = form(filePart('a', 'hi'))
      await connection.send(formHead(service, body.length, wanted))
      expect((await connection.answer()).status).to.equal(100)
      await connection.send(body)
      expectOk(await connection.answer())
      const headers = { ...service.anna.headers, ...wanted, 'Content-Length': 2 }
      await connection.send(requestHead('PUT', '/upload/b', headers))
      expect((await connection.answer()).status).to.equal(100)
      await connection.send('ho')
      expectOk(await connection.answer())
      expect(await service.anna.names()).to.deep.equal(['a', 'b'])
    })

    it('is answered with the refusal at once, no 100, for bad credentials', async () => {
      await using service = await start()
      const wrong = { 'x-auth-password': 'wrong', ...wanted }
      expectError(await service.exchange(formHead(service, 1e9, wrong)), 400, 'Invalid credentials')
    })

    it('is answered with the refusal at once, no 100, wherever the head suffices to refuse', async () => {
      await using service = await start({ maxFileSize: 100 })
      expectOk(await service.anna.upload('taken', 'x'))
      const refusals = [
        [400, '/upload/a%0ab', { 'Content-Length': 10 }],
        [413, '/upload/a', { 'Content-Length': 101 }],
        [412, '/upload/taken', { 'Content-Length': 10, 'If-None-Match': '*' }],
        [404, '/nowhere', { 'Content-Length': 10 }],
        [405, '/list', { 'Content-Length': 10 }],
      ] as const
      for (const [status, path, headers] of refusals) {
        const all = { ...service.anna.headers, ...wanted, ...headers }
        const answer = await service.exchange(requestHead('PUT', path, all))
        expect(answer.status, path).to.equal(status)
      }
      const noForm = formHead(service, 10, { ...wanted, 'Content-Type': 'text/plain' })
      expectError(await service.exchange(noForm), 400, 'No file')
    })

    it('keeps curl from sending a refused body, and lets it send a welcome one', async () => {
      await using service = await start()
      const directory = await mkdtemp(join(tmpdir(), 'holdfast-curl-'))
      const file = join(directory, 'large')
      await writeFile(file, Buffer.alloc(3 * 2 ** 20))
      const auth = (password: string) => [
        ...['-H', 'x-auth-name: anna', '-H', `x-auth-password: ${password}`],
        ...patience,
      ]
      const report = ['-v', '-w', '|%{http_code}|%{size_upload}']
      const send = (password: string) =>
        curl([...auth(password), ...report, '-T', file, `${service.url}/upload/a`])
      const refused = await send('wrong')
      const welcome = await send('correct horse')
      await rm(directory, { recursive: true })
      expect(refused.stdout.toString()).to.match(/Invalid credentials.*\|400\|0$/)
      expect(refused.stderr).to.not.include('100 Continue')
      expect(welcome.stdout.toString()).to.equal(`OK|200|${3 * 2 ** 20}`)
      expect(welcome.stderr).to.include('100 Continue')
    })

    it('with any other expectation is 417', async () => {
      await using service = await start()
      const answer = await service.exchange(formHead(service, 10, { Expect: 'miracles' }))
      expect(answer.status).to.equal(417)
      expectError(answer, 417, 'The only supported expectation is 100-continue')
    })
  })
}
