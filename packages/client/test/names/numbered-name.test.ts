import { expect } from 'chai'
import { numberedName } from '../../src/index.ts'

describe('numberedName', () => {
  it('puts the number before the extension', () => {
    expect(numberedName('a.txt', 2)).to.equal('a (2).txt')
    expect(numberedName('archive', 3)).to.equal('archive (3)')
    expect(numberedName('.profile', 2)).to.equal('.profile (2)')
  })

  it('stays within 255 bytes', () => {
    expect(Buffer.byteLength(numberedName(`${'a'.repeat(251)}.txt`, 12))).to.equal(255)
  })
})
