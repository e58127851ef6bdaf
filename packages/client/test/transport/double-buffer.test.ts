import { expect } from 'chai'
import { createDoubleBuffer } from '../../src/transport/node-transport.ts'

describe('createDoubleBuffer', () => {
  const bytes = (...values: readonly number[]) => Uint8Array.from(values)

  it('gives what was added since', () => {
    const buffer = createDoubleBuffer(4, 2)
    expect(buffer.take()).to.equal(undefined)
    buffer.add(bytes(1, 2))
    buffer.add(bytes(3))
    expect(buffer.take()).to.deep.equal(bytes(1, 2, 3))
    expect(buffer.take()).to.equal(undefined)
  })

  it('says when another step has no room', () => {
    const buffer = createDoubleBuffer(4, 2)
    expect(buffer.add(bytes(1))).to.equal(true)
    expect(buffer.add(bytes(2))).to.equal(true)
    expect(buffer.add(bytes(3))).to.equal(false)
    buffer.take()
    expect(buffer.add(bytes(4, 5))).to.equal(true)
  })

  it('leaves a chunk as it is until the next one is taken', () => {
    const buffer = createDoubleBuffer(2, 1)
    buffer.add(bytes(1, 2))
    const chunk = buffer.take()
    buffer.add(bytes(3, 4))
    expect(chunk).to.deep.equal(bytes(1, 2))
    expect(buffer.take()).to.deep.equal(bytes(3, 4))
    expect(chunk).to.deep.equal(bytes(1, 2))
  })
})
