import { createFaults, injectFaults } from '@holdfast/contract/faults'
import { curl } from '@holdfast/testing'
import { expect } from 'chai'
import { requestHead } from '../support/request-head.ts'
import type { StartService } from '../support/running-service.ts'

export function ping(start: StartService): void {
  describe('GET /ping', () => {
    it('answers 200, text/plain, body pong', async () => {
      await using service = await start()
      const answer = await service.exchange(requestHead('GET', '/ping'))
      expect(answer.status).to.equal(200)
      expect(answer.headers.get('content-type')).to.match(/^text\/plain\b/)
      expect(answer.bytes.toString()).to.equal('pong')
    })

    it('asks for no credentials, and minds no wrong ones', async () => {
      await using service = await start()
      const bare = await curl([`${service.url}/ping`])
      const wrong = await curl(['-H', 'x-auth-name: nobody', `${service.url}/ping`])
      expect([bare.stdout.toString(), wrong.stdout.toString()]).to.deep.equal(['pong', 'pong'])
      expect(service.hashes()).to.equal(0)
    })

    it('has no store access: it answers while every call of the store fails', async () => {
      const faults = createFaults()
      faults.plan({ nth: 1, lasting: true })
      await using service = await start({ wrap: (store) => injectFaults(store, faults) })
      const answer = await service.exchange(requestHead('GET', '/ping'))
      expect(answer.bytes.toString()).to.equal('pong')
      expect(faults.steps()).to.deep.equal([])
    })

    it('answers HEAD with the headers of GET and no body', async () => {
      await using service = await start()
      using connection = await service.connect()
      await connection.send(requestHead('HEAD', '/ping'))
      const head = await connection.answer({ toHead: true })
      await connection.send(requestHead('GET', '/ping'))
      const get = await connection.answer()
      expect(head.status).to.equal(200)
      for (const name of ['content-type', 'content-length']) {
        expect(head.headers.get(name)).to.equal(get.headers.get(name))
      }
    })
  })
}
