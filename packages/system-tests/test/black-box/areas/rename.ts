import { curl } from '@holdfast/testing'
import { expect } from 'chai'
import { expectError, expectOk, type Answer } from '../support/answer.ts'
import type { CustomerClient } from '../support/customer-client.ts'
import { anna, type StartService } from '../support/running-service.ts'

/** POST /rename/:filename with this body. */
function rename(client: CustomerClient, name: string, body: unknown): Promise<Answer> {
  return client.send('POST', `/rename/${encodeURIComponent(name)}`, {
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

export function renaming(start: StartService): void {
  describe('POST /rename/:filename', () => {
    it('answers 200 OK once the file has its new name', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a b', 'content'))
      const auth = ['-H', 'x-auth-name: anna', '-H', 'x-auth-password: correct horse']
      const { stdout } = await curl([...auth, '-d', '{"to":"ö"}', `${service.url}/rename/a%20b`])
      expect(stdout.toString()).to.equal('OK')
      expect(await service.anna.names()).to.deep.equal(['ö'])
      expect(await service.anna.text('ö')).to.equal('content')
      expectError(await service.anna.serve('a b'), 400, 'File not found')
    })

    it('has the entity tag of the file in its answer', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a', 'content'))
      const answer = await rename(service.anna, 'a', { to: 'b', createOnly: true })
      expectOk(answer)
      const served = await service.anna.serve('b')
      expect(answer.headers.get('etag')).to.equal(served.headers.get('etag'))
    })

    it('replaces a file of the new name, also if it says createOnly: false', async () => {
      await using service = await start()
      for (const options of [{}, { createOnly: false }]) {
        expectOk(await service.anna.upload('a', 'new'))
        expectOk(await service.anna.upload('b', 'old'))
        expectOk(await rename(service.anna, 'a', { to: 'b', ...options }))
        expect(await service.anna.names()).to.deep.equal(['b'])
        expect(await service.anna.text('b')).to.equal('new')
      }
    })

    it('answers Precondition Failed where the name is taken and createOnly is true', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a', 'new'))
      expectOk(await service.anna.upload('b', 'old'))
      const answer = await rename(service.anna, 'a', { to: 'b', createOnly: true })
      expectError(answer, 412, 'Precondition Failed')
      expect(await service.anna.text('a')).to.equal('new')
      expect(await service.anna.text('b')).to.equal('old')
    })

    it('answers OK to the name that the file has, and changes nothing', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a', 'content'))
      const before = await service.anna.serve('a')
      for (const createOnly of [true, false]) {
        expectOk(await rename(service.anna, 'a', { to: 'a', createOnly }))
      }
      const after = await service.anna.serve('a')
      expect(after.headers.get('etag')).to.equal(before.headers.get('etag'))
      expect(after.bytes.toString()).to.equal('content')
      expectError(await rename(service.anna, 'b', { to: 'b' }), 400, 'File not found')
    })

    it('answers File not found for a file that does not exist, or is another customer’s', async () => {
      const bert = { name: 'bert', password: 'battery staple' }
      await using service = await start({ customers: [anna, bert] })
      expectOk(await service.as(bert).upload('a', 'x'))
      for (const createOnly of [true, false]) {
        const answer = await rename(service.anna, 'a', { to: 'b', createOnly })
        expectError(answer, 400, 'File not found')
      }
      expect(await service.as(bert).names()).to.deep.equal(['a'])
      expect(await service.anna.names()).to.deep.equal([])
    })

    it('answers No filename. Use /rename/<filename> when the filename is missing', async () => {
      await using service = await start()
      for (const path of ['/rename', '/rename/']) {
        const answer = await service.anna.send('POST', path)
        expectError(answer, 400, 'No filename. Use /rename/<filename>')
      }
    })

    it('says what is wrong with the body, and changes nothing', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a', 'content'))
      const noJson = 'Invalid body: it must be JSON such as {"to":"b.txt","createOnly":true}'
      const wrong: readonly (readonly [body: unknown, message: string])[] = [
        ['', noJson],
        ['to=b', noJson],
        ['"b"', noJson],
        ['null', noJson],
        ['[]', noJson],
        [{ to: 'b', from: 'a' }, noJson],
        [{}, 'Invalid to: it must be the new name'],
        [{ to: 1 }, 'Invalid to: it must be the new name'],
        [{ to: 'b', createOnly: 'yes' }, 'Invalid createOnly: it must be true or false'],
        [{ to: 'b', createOnly: null }, 'Invalid createOnly: it must be true or false'],
        [JSON.stringify({ to: 'b' }).padEnd(5000), 'Invalid body: it is longer than 4096 bytes'],
      ]
      for (const [body, message] of wrong) {
        expectError(await rename(service.anna, 'a', body), 400, message)
      }
      for (const to of ['', '.', '..', 'a/b', 'a\nb', '\ud800', 'x'.repeat(256)]) {
        const answer = await rename(service.anna, 'a', { to })
        const { message } = JSON.parse(answer.bytes.toString()) as { message: string }
        expect(message).to.match(/^Invalid to: ./u)
        expectError(answer, 400, message)
      }
      expect(await service.anna.names()).to.deep.equal(['a'])
    })

    it('refuses conditions', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a', 'content'))
      const headers = { 'if-match': '*' }
      const answer = await service.anna.send('POST', '/rename/a', { headers, body: '{"to":"b"}' })
      expectError(answer, 400, 'Invalid if-match: renames support no conditions')
      expect(await service.anna.names()).to.deep.equal(['a'])
    })

    it('asks for credentials, and takes no link for them', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a', 'content'))
      const body = '{"to":"b"}'
      const made = await service.anna.send('POST', '/link/a', { body: '{}' })
      const { url } = JSON.parse(made.bytes.toString()) as { url: string }
      const { search } = new URL(url)
      for (const query of ['', search]) {
        const answer = await fetch(`${service.url}/rename/a${query}`, { method: 'POST', body })
        expect(await answer.json()).to.have.property('message', 'No auth headers')
        expect(answer.status).to.equal(400)
      }
      expect(await service.anna.names()).to.deep.equal(['a'])
    })

    it('lets the quota use the space of the file that it replaces, and no more', async () => {
      await using service = await start({ customers: [{ ...anna, quota: 100 }] })
      expectOk(await service.anna.upload('a', 'x'.repeat(60)))
      expectOk(await service.anna.upload('b', 'x'.repeat(40)))
      expectOk(await rename(service.anna, 'a', { to: 'b' }))
      expect((await service.anna.upload('c', 'x'.repeat(41))).status).to.equal(413)
      expectOk(await service.anna.upload('c', 'x'.repeat(40)))
    })
  })
}
