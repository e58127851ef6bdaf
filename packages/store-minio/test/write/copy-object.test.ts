import { expect } from 'chai'
import { partsOf } from '../../src/write/copy-object.ts'

describe('partsOf', () => {
  it('covers an object by parts, each byte once', () => {
    expect(partsOf(0, 10)).to.deep.equal([])
    expect(partsOf(1, 10)).to.deep.equal([[0, 0]])
    expect(partsOf(10, 10)).to.deep.equal([[0, 9]])
    expect(partsOf(25, 10)).to.deep.equal([
      [0, 9],
      [10, 19],
      [20, 24],
    ])
  })

  it('takes no more parts than S3 allows', () => {
    const TiB = 1024 ** 4
    const parts = partsOf(5 * TiB)
    expect(parts.length).to.be.at.most(10_000)
    expect(parts.at(-1)?.[1]).to.equal(5 * TiB - 1)
    expect(partsOf(3 * 256 * 1024 * 1024 + 1)).to.have.length(4)
  })
})
