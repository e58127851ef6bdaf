import { expect } from 'chai'
import { expectedSha256 } from '../../src/multipart/expected-sha256.ts'

const digest = 'ab'.repeat(32)
const invalid: readonly unknown[] = [
  '',
  'abc',
  `${digest}0`,
  ` ${digest}`,
  `${digest}\n`,
  'g'.repeat(64),
  [digest],
  [digest, digest],
  { 0: digest },
  null,
  undefined,
]

describe('expectedSha256', () => {
  it('is undefined without the field', () => {
    for (const fields of [undefined, null, 'sha256', {}, { SHA256: digest }]) {
      expect(expectedSha256(fields)).to.equal(undefined)
    }
  })
  it('is in lower case', () => {
    expect(expectedSha256({ sha256: digest.toUpperCase() })).to.equal(digest)
  })
  for (const sha256 of invalid) {
    it(`refuses ${typeof sha256} ${String(sha256).slice(0, 20)}`, () => {
      expect(() => expectedSha256({ sha256 }))
        .to.throw('Invalid sha256: it must be 64 hexadecimal digits, once')
        .with.property('status', 400)
    })
  }
})
