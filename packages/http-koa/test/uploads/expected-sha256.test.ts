import { expect } from 'chai'
import { expectedSha256 } from '../../src/uploads/form-syntax.ts'

const digest = 'ab'.repeat(32)
const invalid = ['', 'abc', `${digest}0`, ` ${digest}`, `${digest}\n`, 'g'.repeat(64)]

describe('expectedSha256', () => {
  it('is undefined without the field', () => {
    expect(expectedSha256([])).to.equal(undefined)
  })
  it('is in lower case', () => {
    expect(expectedSha256([digest.toUpperCase()])).to.equal(digest)
  })
  for (const fields of [...invalid.map((value) => [value]), [digest, digest]]) {
    it(`refuses ${JSON.stringify(fields).slice(0, 20)}`, () => {
      expect(() => expectedSha256(fields))
        .to.throw('Invalid sha256: it must be sent once, as 64 hexadecimal digits')
        .with.property('status', 400)
    })
  }
})
