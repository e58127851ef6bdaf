import { expect } from 'chai'
import { parseCustomers } from '../../src/customers/parse-customers.ts'
import { refusal } from './refusal.ts'

const webhookSecret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const one = (fields: string) => `customers:\n  - name: alice\n    ${fields}\n`

describe('parseCustomers, of webhooks,', () => {
  it('reads the receiver of events of a customer, with one secret or two', () => {
    const text = `customers:\n  - { name: a, password: x, webhook: 'https://a.example', webhookSecret: ${webhookSecret} ${webhookSecret} }\n`
    const [entry] = parseCustomers(text, 'customers.yaml').entries
    expect(entry?.webhook).to.deep.equal({
      url: 'https://a.example/',
      secrets: [webhookSecret, webhookSecret],
    })
    expect(entry).not.to.have.property('webhookSecret')
  })

  for (const [what, text, message] of [
    [
      'a receiver of events that is no URL',
      one(`password: x\n    webhook: a.example\n    webhookSecret: ${webhookSecret}`),
      /webhook: is not the URL of a receiver; write https:\/\/host\/path/,
    ],
    [
      'a receiver with a password in its URL',
      one(`password: x\n    webhook: https://a:b@a.example/\n    webhookSecret: ${webhookSecret}`),
      /webhook: is not the URL of a receiver/,
    ],
    [
      'a receiver without a secret',
      one('password: x\n    webhook: https://a.example/'),
      /customers\[0\]: has a webhook and no webhookSecret to sign its events; make one with/,
    ],
    [
      'a secret without a receiver',
      one(`password: x\n    webhookSecret: ${webhookSecret}`),
      /customers\[0\]: has no webhook; add "webhook: …"/,
    ],
    [
      'a secret that is too short',
      one('password: x\n    webhook: https://a.example/\n    webhookSecret: whsec_YQ=='),
      /webhookSecret: is not one; write whsec_ and 24 to 64 random bytes in Base64/,
    ],
    [
      'a webhook of a login',
      one('password: x\n    logins: [{name: a, password: x, webhook: "https://a.example/"}]'),
      /has a field that is not known/,
    ],
  ] as const) {
    it(`refuses ${what}`, () => {
      expect(refusal(text).message).to.match(message)
    })
  }
})
