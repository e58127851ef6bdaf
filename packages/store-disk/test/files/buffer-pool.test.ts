import { expect } from 'chai'
import { createBufferPool } from '../../src/files/buffer-pool.ts'

describe('createBufferPool', () => {
  it('lends again what was given back, up to as many as are kept', () => {
    const pool = createBufferPool(10, 1)
    const [one, other] = [pool.take(), pool.take()]
    expect(one).to.have.length(10)
    expect(one).not.to.equal(other)
    for (const buffer of [one, other]) if (buffer) pool.give(buffer)
    expect(pool.take()).to.equal(one)
    expect(pool.take()).not.to.equal(other)
  })

  it('lends no more at a time than the limit', () => {
    const pool = createBufferPool(10, 0, 2)
    const buffer = pool.take()
    pool.take()
    expect(pool.take()).to.equal(undefined)
    if (buffer) pool.give(buffer)
    expect(pool.take()).to.have.length(10)
    expect(pool.take()).to.equal(undefined)
  })

  it('lends two in turn, which come back together', () => {
    const pool = createBufferPool(10, 2)
    const buffers = pool.borrow()
    const [first, second] = [buffers.next(), buffers.next()]
    expect(first).not.to.equal(second)
    expect(buffers.next()).to.equal(first)
    expect(buffers.next()).to.equal(second)
    buffers.release()
    expect([pool.take(), pool.take()]).to.have.members([first, second])
  })
})
