import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { makeTemporaryDirectory, until } from '@holdfast/testing'
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

  it('tries again where the delivery to a customer cannot begin, and logs each reason once', async () => {
    await using directory = await makeTemporaryDirectory()
    const trail = join(directory.path, 'audit.jsonl')
    const config = resolveConfig({ flags: { 'audit-log': trail } })
    const reasons: unknown[] = []
    const write = (line: string) => void reasons.push((JSON.parse(line) as LogLine).reason)
    const webhook = { url: 'https://example.invalid/', secrets: [secret] }
    // In place of the directory for the cursors.
    await writeFile(`${trail}.customers`, '')
    const log = pino({ level: 'error' }, { write })
    const webhooks = await openEvents(config, log, () => new Map([['alice', webhook]]), 5)
    expect([webhooks.ofCustomers().length, webhooks.failedCustomers()]).to.deep.equal([0, 1])
    await delay(50)
    await rm(`${trail}.customers`)
    await until('it is tried again', () => webhooks.failedCustomers() === 0)
    expect(webhooks.ofCustomers()).to.have.length(1)
    await webhooks.close()
    expect(reasons).to.have.length(1)
  })

  it('begins the delivery to a customer who comes while the first ones begin', async () => {
    await using directory = await makeTemporaryDirectory()
    const config = resolveConfig({ flags: { 'audit-log': join(directory.path, 'audit.jsonl') } })
    const webhook = { url: 'https://example.invalid/', secrets: [secret] }
    // Read twice to begin: whether there is any, and which.
    let reads = 0
    const customers = () => (reads++ < 2 ? ['alice'] : ['alice', 'bob'])
    const customerWebhooks = () => new Map(customers().map((name) => [name, webhook]))
    const webhooks = await openEvents(config, pino({ level: 'silent' }), customerWebhooks)
    await until('both are there', () => webhooks.ofCustomers().length === 2)
    await webhooks.close()
  })

  it('counts no customer whose webhook was taken away', async () => {
    await using directory = await makeTemporaryDirectory()
    const config = resolveConfig({ flags: { 'audit-log': join(directory.path, 'audit.jsonl') } })
    const all = new Map([['alice', { url: 'http://example.invalid/', secrets: [secret] }]])
    const webhooks = await openEvents(config, pino({ level: 'silent' }), () => all)
    expect(webhooks.failedCustomers()).to.equal(1)
    all.clear()
    await webhooks.followCustomers()
    expect(webhooks.failedCustomers()).to.equal(0)
    await webhooks.close()
  })
})

interface LogLine {
  readonly reason?: string
}
