import { createQuotaKeeper } from '@holdfast/core'
import { createMemoryBlobStore, createMemoryCredentialSource } from '@holdfast/core/memory'
import { expect } from 'chai'
import { createLoginFailureCounter } from '../../src/logins/login-failure-counter.ts'
import type { Channel } from '../../src/workers/channel.ts'
import { shareCommons } from '../../src/workers/share-commons.ts'
import type { ToldAnswers } from '../../src/workers/told-commons.ts'
import { createToldFailures, type ToldFailure } from '../../src/workers/told-failures.ts'

describe('shareCommons', () => {
  it('tells workers of failed logins by keys that are short, however long the name was', async () => {
    const told: ToldFailure[] = []
    const channel = {
      ask: () => Promise.reject(new Error('Nothing is asked')),
      tell(topic: string, body: unknown) {
        if (topic === 'failure') told.push(body as ToldFailure)
      },
      end() {},
    } as Channel<ToldAnswers>
    const shared = shareCommons(
      {
        certificate: undefined,
        credentials: createMemoryCredentialSource([]),
        customers: () => [],
        verifyPassword: async () => false,
        failures: createLoginFailureCounter(60_000),
      },
      createQuotaKeeper(createMemoryBlobStore()),
    )
    const share = shared.give(() => channel)
    share.welcome()
    const name = 'x'.repeat(16_000)
    const login = { name, address: '192.0.2.1', password: 'guess' }
    expect(await share.answers.verify(login, new AbortController().signal)).to.be.false
    expect(told).to.have.length(3)
    for (const { key } of told) expect(key.length).to.be.at.most(65)

    const failures = createToldFailures()
    for (const failure of told) failures.hear(failure)
    expect(failures.read(`name ${name}`).failures).to.equal(1)
    expect(failures.read(`name ${name}y`).failures).to.equal(0)
    expect(failures.read('address 192.0.2.1').failures).to.equal(1)
  })
})
