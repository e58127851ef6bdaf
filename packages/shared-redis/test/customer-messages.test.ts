import { expect } from 'chai'
import { createCustomerMessages } from '../src/quotas/customer-messages.ts'
import { openEngines } from './shared-engines.ts'

describe('createCustomerMessages', () => {
  it('answers together what several servers ask at the same time', async () => {
    const all = await openEngines(5)
    try {
      let answered = 0
      const [asked, ...askers] = all.engines.map((engine, nth) => ({
        own: engine.servers.own,
        messages: createCustomerMessages(engine, {
          async onAsked() {
            if (nth === 0) answered++
          },
          onCounted() {},
        }),
      }))
      const questions = askers.flatMap(({ messages }) =>
        Array.from({ length: 25 }, async () => messages.askAll('alice', [asked?.own ?? ''])),
      )
      const begun = performance.now()
      await Promise.all(questions)
      // After a second, a question ends without its answer.
      expect(performance.now() - begun).to.be.below(1_000)
      expect(answered).to.be.within(1, 50)
    } finally {
      await all.close()
    }
  })
})
