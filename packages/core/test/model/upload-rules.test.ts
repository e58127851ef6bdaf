import { expect } from 'chai'
import { requireComplete, requireLength, requireOffset } from '../../src/model/upload-rules.ts'
import { thrownCode } from '../rejection.ts'

const plan = { name: 'a', expiresAfterMs: 1 }
const upload = { offset: 10, plan }
const longer = { offset: 10, plan: { ...plan, length: 20 } }
const published = { ...upload, published: true }

describe('requireOffset', () => {
  it('takes the offset of an upload that is not published, and no other one', () => {
    requireOffset(upload, 10)
    for (const offset of [0, 9, 11]) {
      expect(thrownCode(() => requireOffset(upload, offset))).to.equal('upload-conflict')
    }
    expect(thrownCode(() => requireOffset(published, 10))).to.equal('upload-conflict')
  })
})

describe('requireLength', () => {
  it('takes any length from the offset on where none is known', () => {
    for (const length of [10, 11, 100]) requireLength(upload, length)
    expect(thrownCode(() => requireLength(upload, 9))).to.equal('upload-conflict')
  })

  it('takes the length that is known, and that of what is published, and no other one', () => {
    requireLength(longer, 20)
    requireLength(published, 10)
    for (const length of [9, 11, 19, 21]) {
      expect(thrownCode(() => requireLength(longer, length))).to.equal('upload-conflict')
      expect(thrownCode(() => requireLength(published, length))).to.equal('upload-conflict')
    }
  })
})

describe('requireComplete', () => {
  it('takes an upload that has its length, or has none', () => {
    requireComplete(upload)
    requireComplete({ ...longer, offset: 20 })
    for (const offset of [19, 21]) {
      expect(thrownCode(() => requireComplete({ ...longer, offset }))).to.equal('upload-conflict')
    }
  })
})
