import { expect } from 'chai'
import { expectError, expectOk } from '../support/answer.ts'
import type { StartService } from '../support/running-service.ts'

/** Customers that a store, a URL or a file system might take for one another. */
const twins = ['a', 'A', 'ab', 'a b', 'a.', '.a', 'a%62', '%61', 'á', 'a\u0301', '__proto__', '😀']
const customers = twins.map((name) => ({ name, password: `password of ${name}` }))

export function isolation(start: StartService): void {
  describe('isolation between customers', () => {
    it('shows each only the files that they have uploaded: a, ab, case and normalisation twins', async () => {
      await using service = await start({ customers })
      const clients = customers.map((each) => service.as(each))
      for (const [index, client] of clients.entries()) {
        expectOk(await client.upload('shared name', `of ${index}`))
        expectOk(await client.upload(`only ${index}`, ''))
      }
      for (const [index, client] of clients.entries()) {
        expect(await client.names()).to.deep.equal([`only ${index}`, 'shared name'])
        expect(await client.text('shared name')).to.equal(`of ${index}`)
      }
    })

    it('lets no customer serve or delete the file of another, or notice that it is there', async () => {
      await using service = await start({ customers })
      const [owner, ...others] = customers.map((each) => service.as(each))
      expectOk(await owner!.upload('secret', 'x'))
      for (const other of others) {
        expectError(await other.serve('secret'), 400, 'File not found')
        expectError(await other.remove('secret'), 400, 'File not found')
        expectError(await other.list(), 400, 'No files uploaded yet')
        expectOk(await other.upload('secret', 'mine', { 'If-None-Match': '*' }))
      }
      expect(await owner!.text('secret')).to.equal('x')
    })

    it('lets no name reach into another customer', async () => {
      await using service = await start({ customers })
      const [owner, , ab] = customers.map((each) => service.as(each))
      expectOk(await owner!.upload('secret', 'x'))
      for (const name of ['../a/secret', '..%2Fa%2Fsecret', '..\\a\\secret', 'a/secret']) {
        expect(await ab!.text(name)).to.equal(undefined)
        const raw = await ab!.send('GET', `/serve/${name}`)
        expect(raw.status).to.be.within(400, 404)
      }
    })

    it('goes by the whole name: the password of one does not open a twin', async () => {
      await using service = await start({ customers })
      const client = service.as({ name: 'A', password: 'password of a' })
      expectError(await client.list(), 400, 'Invalid credentials')
    })
  })
}
