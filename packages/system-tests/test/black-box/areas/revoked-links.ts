import { expect } from 'chai'
import { expectError, expectOk } from '../support/answer.ts'
import type { CustomerClient } from '../support/customer-client.ts'
import { endLinks } from '../support/end-links.ts'
import { anna, type StartService } from '../support/running-service.ts'

async function linkOf(client: CustomerClient, name: string, body = '{}'): Promise<string> {
  const made = await client.send('POST', `/link/${name}`, { body })
  return (JSON.parse(made.bytes.toString()) as { url: string }).url
}

export function revokedLinks(start: StartService): void {
  describe('DELETE /links', () => {
    it('answers OK, and ends all links that the customer has made, to download and to upload', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a', 'content'))
      const download = await linkOf(service.anna, 'a')
      const upload = await linkOf(service.anna, 'b', '{"verb":"upload"}')
      expect(await (await fetch(download)).text()).to.equal('content')
      await endLinks(service.anna)
      const answers = [await fetch(download), await fetch(upload, { method: 'PUT', body: 'x' })]
      for (const answer of answers) {
        expect(answer.status).to.equal(403)
        expect(await answer.json()).to.have.property('message', 'The link is wrong, or has expired')
      }
      expect(await service.anna.names()).to.deep.equal(['a'])
    })

    it('leaves links alone that are made later, and those of others', async () => {
      const bert = { name: 'bert', password: 'battery staple' }
      await using service = await start({ customers: [anna, bert] })
      expectOk(await service.anna.upload('a', 'of anna'))
      expectOk(await service.as(bert).upload('a', 'of bert'))
      const ofBert = await linkOf(service.as(bert), 'a')
      for (let count = 0; count < 2; count++) {
        expectOk(await service.anna.send('DELETE', '/links'))
        const later = await linkOf(service.anna, 'a')
        expect(await (await fetch(later)).text()).to.equal('of anna')
      }
      expect(await (await fetch(ofBert)).text()).to.equal('of bert')
    })

    it('takes no link for a login, and no condition', async () => {
      await using service = await start()
      expectOk(await service.anna.upload('a', 'content'))
      const link = await linkOf(service.anna, 'a')
      const byLink = await fetch(`${service.url}/links${new URL(link).search}`, {
        method: 'DELETE',
      })
      expect(await byLink.json()).to.have.property('message', 'No auth headers')
      const conditional = await service.anna.send('DELETE', '/links', {
        headers: { 'if-match': '*' },
      })
      expectError(conditional, 400, 'Invalid if-match: deletions support no conditions')
      expect(await (await fetch(link)).text()).to.equal('content')
    })
  })
}
