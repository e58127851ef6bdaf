import { json } from 'node:stream/consumers'
import { expect } from 'chai'
import { expectError } from '../support/answer.ts'
import { authHeaders, type Credentials } from '../support/customer-client.ts'
import { requestHead } from '../support/request-head.ts'
import { anna, type RunningService, type StartService } from '../support/running-service.ts'

const otherAddress = '127.0.0.2'
const wrong = { name: 'anna', password: 'wrong' }

async function failAs(service: RunningService, credentials: Credentials, times: number) {
  for (let attempt = 0; attempt < times; attempt++) {
    expectError(await service.as(credentials).list(), 400, 'Invalid credentials')
  }
}

async function listFrom(service: RunningService, localAddress: string, login: Credentials) {
  using connection = await service.connect({ localAddress })
  await connection.send(requestHead('GET', '/list', authHeaders(login)))
  return await connection.answer()
}

export function loginBrake(start: StartService): void {
  describe('repeated bad credentials', () => {
    it('are answered 429 with Retry-After after a burst per customer name', async () => {
      await using service = await start({ brake: { failuresPerName: 3 } })
      await failAs(service, wrong, 3)
      const answer = await service.as(wrong).list()
      expectError(answer, 429, 'Too many failed logins')
      expect(Number(answer.headers.get('retry-after'))).to.be.within(1, 60)
    })

    it('are answered 429 after a burst per address, whatever the names', async () => {
      await using service = await start({ brake: { failuresPerAddress: 3 } })
      for (const name of ['x', 'y', 'z']) await failAs(service, { name, password: 'p' }, 1)
      expectError(await service.anna.list(), 429, 'Too many failed logins')
    })

    it('stop the right password from the same address, too, without a hash', async () => {
      await using service = await start({ brake: { failuresPerName: 3 } })
      await failAs(service, wrong, 3)
      const before = service.hashes()
      expectError(await service.anna.list(), 429, 'Too many failed logins')
      expect(service.hashes()).to.equal(before)
    })

    it('do not stop a right password from another address', async () => {
      await using service = await start({ brake: { failuresPerName: 3, failuresPerAddress: 3 } })
      await failAs(service, wrong, 3)
      const headers = authHeaders(anna)
      const answer = await new Promise<unknown>((resolve, reject) => {
        service
          .request('/list', { localAddress: otherAddress, headers })
          .on('response', (response) => resolve(json(response)))
          .on('error', reject)
          .end()
      })
      expect(answer).to.include({ statusCode: 400, message: 'No files uploaded yet' })
    })

    it('do not stop other customers at the same address before its own burst', async () => {
      const bert = { name: 'bert', password: 'p' }
      await using service = await start({ customers: [anna, bert], brake: { failuresPerName: 3 } })
      await failAs(service, wrong, 3)
      expectError(await service.as(bert).list(), 400, 'No files uploaded yet')
    })

    it('are counted alike for an unknown customer', async () => {
      await using service = await start({ brake: { failuresPerName: 3 } })
      await failAs(service, { name: 'nobody', password: 'p' }, 3)
      const answer = await service.as({ name: 'nobody', password: 'p' }).list()
      expectError(answer, 429, 'Too many failed logins')
    })

    it('from another address get the brake there, too, after their first failure', async () => {
      await using service = await start({ brake: { failuresPerName: 3 } })
      await failAs(service, wrong, 3)
      expectError(await listFrom(service, otherAddress, wrong), 400, 'Invalid credentials')
      expectError(await listFrom(service, otherAddress, wrong), 429, 'Too many failed logins')
    })

    it('do not brake GET /ping', async () => {
      await using service = await start({ brake: { failuresPerAddress: 1 } })
      await failAs(service, wrong, 1)
      expect((await service.anna.send('GET', '/ping')).status).to.equal(200)
    })
  })
}
