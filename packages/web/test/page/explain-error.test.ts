import { HoldfastError } from '@holdfast/client/browser'
import { expect } from 'chai'
import { explainError } from '../../page/parts/explain-error.ts'

const plain = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, ' ')

describe('explainError', () => {
  for (const [message, text] of [
    [
      'other files and uploads use 60 of 100 bytes, and this file needs 41',
      '60 bytes of 100 bytes are used, uploads under way included, and this file needs 41 bytes.',
    ],
    [
      'other files and uploads use 1500 of 2000 bytes, and this file needs more than the rest',
      '2 kB of 2 kB are used, uploads under way included. This file needs more than the rest.',
    ],
    [
      '2 of 2 files are stored or being stored',
      'You have 2 of at most 2 files. Delete some to make room.',
    ],
    [
      'there are 9 of 9 unfinished uploads',
      'There are 9 of at most 9 unfinished uploads. Finish or cancel one.',
    ],
  ] as const) {
    it(`has the numbers of a quota: ${message}`, () => {
      const error = new HoldfastError('quota-exceeded', `Quota exceeded: ${message}`, {
        status: 413,
      })
      expect(plain(explainError(error))).to.equal(text)
    })
  }

  it('has no numbers where the server gives none', () => {
    const error = new HoldfastError('quota-exceeded', 'Quota exceeded', { status: 413 })
    expect(explainError(error)).to.equal('There is no room left: your quota is used up.')
  })
})
