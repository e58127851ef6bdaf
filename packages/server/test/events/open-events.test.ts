import { join } from 'node:path'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { pino } from 'pino'
import { resolveConfig } from '../../src/config/resolve-config.ts'
import { openEvents } from '../../src/events/open-events.ts'
import { secret } from './receiver.ts'

describe('openEvents', () => {
  it('begins no delivery to a customer once it is closed, nor while it is being closed', async () => {
    await using directory = await makeTemporaryDirectory()
    const config = resolveConfig({ flags: { 'audit-log': join(directory.path, 'audit.jsonl') } })
    const webhook = { url: 'https://example.invalid/', secrets: [secret] }
    let customers: readonly string[] = ['alice']
    const customerWebhooks = () => new Map(customers.map((name) => [name, webhook]))
    const webhooks = await openEvents(config, pino({ level: 'silent' }), customerWebhooks)
    expect(webhooks.ofCustomers()).to.have.length(1)
    customers = ['alice', 'bob']
    const begun = webhooks.followCustomers()
    const closed = webhooks.close()
    const late = webhooks.followCustomers()
    await Promise.all([begun, closed, late])
    expect(webhooks.ofCustomers()).to.deep.equal([])
    await webhooks.followCustomers()
    expect(webhooks.ofCustomers()).to.deep.equal([])
  })
})
