import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { expect } from 'chai'
import { findFreePort } from '../src/machine.ts'

describe('findFreePort', () => {
  const random = Math.random
  afterEach(() => {
    Math.random = random
  })

  it('finds a port below those of outgoing connections', async () => {
    expect(await findFreePort()).to.be.within(20_000, 31_999)
  })

  it('passes over a port that is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port: taken } = server.address() as AddressInfo
    let asked = 0
    // The middle of what makes this port, so that rounding does not matter.
    Math.random = () => (asked++ === 0 ? (taken - 20_000 + 0.5) / 12_000 : random())
    try {
      expect(await findFreePort()).not.to.equal(taken)
      expect(asked).to.be.above(1)
    } finally {
      server.close()
    }
  })
})
