import { rejection } from '@holdfast/testing'
import { expect } from 'chai'
import { resolveConfig } from '../../src/config/resolve-config.ts'
import { findWebhookSettings, receiverProblem } from '../../src/events/webhook-settings.ts'
import { secret } from './receiver.ts'

const flags = { 'audit-log': 'none.jsonl', webhook: 'https://example.com/events' }
const environment = { HOLDFAST_WEBHOOK_SECRET: secret }

describe('findWebhookSettings', () => {
  it('is undefined without a receiver', async () => {
    expect(await findWebhookSettings(resolveConfig())).to.equal(undefined)
  })

  it('reads the secrets, two of them while one is changed', async () => {
    const config = resolveConfig({
      flags,
      environment: { HOLDFAST_WEBHOOK_SECRET: `${secret} ${secret}` },
    })
    expect(await findWebhookSettings(config)).to.deep.equal({
      setting: '--webhook',
      url: 'https://example.com/events',
      trail: 'none.jsonl',
      allowPrivate: false,
      secrets: [secret, secret],
    })
  })

  for (const [title, wrong, message] of [
    ['without a trail', { 'audit-log': undefined }, /there is none\W+give --audit-log/],
    ['with a trail on standard output', { 'audit-log': '-' }, /- cannot be read again\W+give/],
    ['with a trail that is no file', { 'audit-log': '/dev/null' }, /cannot be read again\W+give/],
    ['with plain HTTP', { webhook: 'http://example.com/' }, /unencrypted\W+write https/],
  ] as const) {
    it(`refuses a receiver ${title}, with the remedy`, async () => {
      const given = Object.entries({ ...flags, ...wrong }).filter(
        ([, value]) => value !== undefined,
      )
      const config = resolveConfig({ flags: Object.fromEntries(given), environment })
      const { name, message: text } = await rejection(findWebhookSettings(config))
      expect(name).to.equal('SetupError')
      expect(text).to.match(message)
    })
  }

  for (const [title, text] of [
    ['is missing', undefined],
    ['has no prefix', Buffer.alloc(32).toString('base64')],
    ['is short', `whsec_${Buffer.alloc(23).toString('base64')}`],
    ['is long', `whsec_${Buffer.alloc(65).toString('base64')}`],
    ['is not in Base64', 'whsec_ääääääääääääääääääääääääääääääääääää'],
    ['is one of three', `${secret} ${secret} ${secret}`],
  ] as const) {
    it(`refuses a secret that ${title}, without its text`, async () => {
      const config = resolveConfig({ flags, environment: { HOLDFAST_WEBHOOK_SECRET: text } })
      const { name, message } = await rejection(findWebhookSettings(config))
      expect(name).to.equal('SetupError')
      expect(message)
        .to.match(/secret/)
        .and.match(/HOLDFAST_WEBHOOK_SECRET/)
      if (text !== undefined) expect(message).not.to.include(text)
    })
  }

  it('takes plain HTTP and a private address where that is allowed', async () => {
    const private_ = { webhook: 'http://127.0.0.1:1/', 'webhook-allow-private': 'true' }
    const settings = await findWebhookSettings(
      resolveConfig({ flags: { ...flags, ...private_ }, environment }),
    )
    expect(settings).to.include({ url: 'http://127.0.0.1:1/', allowPrivate: true })
  })
})

describe('receiverProblem', () => {
  it('finds addresses that are not public, and hosts that are unknown', async () => {
    const problemOf = async (url: string, allowPrivate = false) =>
      (await receiverProblem({ setting: '--webhook', url, allowPrivate }))?.problem
    expect(await problemOf('https://127.0.0.1/')).to.match(/127\.0\.0\.1, which is not public/)
    expect(await problemOf('https://localhost/')).to.match(/which is not public/)
    expect(await problemOf('https://localhost/', true)).to.equal(undefined)
    expect(await problemOf('https://[2606:4700::1111]/')).to.equal(undefined)
    expect(await problemOf('https://none.invalid/')).to.match(
      /none\.invalid of --webhook is unknown/,
    )
  })
})
