import { expect } from 'chai'
import { concernsAllFiles, HoldfastError, type HoldfastErrorCode } from '../src/index.ts'

const concerns = (code: HoldfastErrorCode) => concernsAllFiles(new HoldfastError(code, code))

describe('concernsAllFiles', () => {
  it('holds for what the next file would fail with, too', () => {
    for (const code of [
      'no-answer',
      'not-secure',
      'invalid-credentials',
      'store-unavailable',
      'unknown',
    ] as const) {
      expect(concerns(code), code).to.equal(true)
    }
  })

  it('does not hold for what is wrong with one file, and for other errors', () => {
    for (const code of ['invalid-file-name', 'file-too-large', 'digest-mismatch'] as const) {
      expect(concerns(code), code).to.equal(false)
    }
    expect(concernsAllFiles(new Error('ENOENT'))).to.equal(false)
  })
})
