import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { expectError } from '../support/answer.ts'
import type { StartService } from '../support/running-service.ts'

export function overload(start: StartService): void {
  describe('an overloaded server', () => {
    it('answers 503 with Retry-After when too many passwords wait for their hash, and goes on', async () => {
      const gate = Promise.withResolvers<undefined>()
      const beforeHash = async () => {
        await gate.promise
      }
      await using service = await start({ hashQueueLimit: 1, beforeHash })
      const guess = (password: string) => service.as({ name: 'anna', password }).list()
      const first = guess('first')
      await until('one password is hashed', () => service.hashes() === 1)
      const others = ['second', 'third', 'fourth'].map(guess)
      // Of those behind the first one waits, and two are turned away while the hash is still being computed.
      await until(
        'two lines are logged',
        () => service.log.filter(({ level }) => level === 'info').length === 2,
      )
      gate.resolve(undefined)
      const answers = await Promise.all(others)
      const refused = answers.filter(({ status }) => status === 503)
      expect(refused.length).to.equal(2)
      for (const answer of refused) {
        expectError(answer, 503, 'Overloaded')
        expect(answer.headers.get('retry-after')).to.match(/^[1-9]\d*$/)
      }
      expectError(await first, 400, 'Invalid credentials')
      expectError(await service.anna.list(), 400, 'No files uploaded yet')
    })

    it('still knows the customers whose passwords it has just verified', async () => {
      const gate = Promise.withResolvers<undefined>()
      let isLoaded = false
      const beforeHash = async () => {
        if (isLoaded) await gate.promise
      }
      await using service = await start({ hashQueueLimit: 0, beforeHash })
      expectError(await service.anna.list(), 400, 'No files uploaded yet')
      isLoaded = true
      const guess = service.as({ name: 'anna', password: 'wrong' }).list()
      await until('two passwords are hashed', () => service.hashes() === 2)
      expectError(await service.anna.list(), 400, 'No files uploaded yet')
      gate.resolve(undefined)
      expectError(await guess, 400, 'Invalid credentials')
    })
  })
}
