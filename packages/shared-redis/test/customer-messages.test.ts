import { expect } from 'chai'
import { createCustomerMessages } from '../src/quotas/customer-messages.ts'
import { openEngines } from './shared-engines.ts'

describe('createCustomerMessages', () => {
  it('answers each question, and together those that come at the same time', async () => {
    const all = await openEngines(5)
    try {
      let givenBack = 0
      const [asked, ...askers] = all.engines.map((engine, nth) => ({
        own: engine.servers.own,
        messages: createCustomerMessages(engine, {
          async onAsked() {
            if (nth === 0) givenBack++
          },
          onCounted() {},
        }),
      }))
      const answered: string[] = []
      all.engine(1).onMessage('given-back', (ids, server) => {
        if (server === asked?.own) answered.push(...(ids as string[]))
      })
      const questions = askers.flatMap(({ messages }) =>
        Array.from({ length: 25 }, async () => messages.askAll('alice', [asked?.own ?? ''])),
      )
      await Promise.all(questions)
      await all.settle()
      expect(new Set(answered).size).to.equal(100)
      expect(answered).to.have.length(100)
      expect(givenBack).to.be.within(1, 50)
    } finally {
      await all.close()
    }
  })
})
