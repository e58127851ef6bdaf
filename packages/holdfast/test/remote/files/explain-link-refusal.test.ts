import { HoldfastError } from '@holdfast/client'
import { expect } from 'chai'
import { explainLinkRefusal } from '../../../src/remote/files/link.ts'

describe('explainLinkRefusal', () => {
  const invalid = (message: string) => new HoldfastError('invalid-field', message, { status: 400 })
  const time = (most: number) =>
    invalid(`Invalid expiresIn: it must be a whole number of seconds from 1 to ${most}`)
  const cases: readonly (readonly [Error, Readonly<Record<string, string>>, string])[] = [
    [time(604_800), { 'expires-in': '99d' }, '--expires-in "99d" must be at most 7d here.'],
    [time(604_800), { 'expires-in': '200h' }, '--expires-in "200h" must be at most 168h here.'],
    [time(604_800), { 'expires-in': '99999999s' }, '"99999999s" must be at most 604800s here.'],
    [time(129_600), { 'expires-in': '2d' }, '--expires-in "2d" must be at most 1.5d here.'],
    [time(90), { 'expires-in': '2d' }, '--expires-in "2d" must be at most 1.5m here.'],
    [time(1), { 'expires-in': '5000ms' }, '--expires-in "5000ms" must be at most 1s here.'],
    [
      invalid('Invalid maxFiles: it must be a whole number from 1 to 10000'),
      { 'max-files': '20000' },
      '--max-files "20000" must be a whole number from 1 to 10000.',
    ],
    [invalid('Invalid body: it must be JSON'), {}, 'Invalid body: it must be JSON'],
    [new Error('x'), {}, 'x'],
  ]
  for (const [error, argv, message] of cases) {
    it(`says ${message}`, () => {
      expect(explainLinkRefusal(error, argv)).to.have.property('message').that.includes(message)
    })
  }
})
