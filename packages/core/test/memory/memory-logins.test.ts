import { expect } from 'chai'
import { createMemoryFailureCounter, createMemoryCredentialSource } from '../../src/memory/index.ts'

describe('createMemoryFailureCounter', () => {
  it('forgets at the very end of the window', async () => {
    let time = 500
    const counter = createMemoryFailureCounter({ windowMs: 1000, now: () => time })
    await counter.add('alice')
    expect(await counter.read('alice')).to.deep.equal({ failures: 1, forgottenInMs: 1000 })
    time += 999
    expect(await counter.read('alice')).to.deep.equal({ failures: 1, forgottenInMs: 1 })
    time += 1
    expect(await counter.read('alice')).to.deep.equal({ failures: 0, forgottenInMs: 0 })
    await counter.add('alice')
    expect(await counter.read('alice')).to.deep.equal({ failures: 1, forgottenInMs: 1000 })
  })

  it('goes by the clock on the wall unless given another', async () => {
    const counter = createMemoryFailureCounter({ windowMs: 60_000 })
    await counter.add('alice')
    const { failures, forgottenInMs } = await counter.read('alice')
    expect(failures).to.equal(1)
    expect(forgottenInMs).to.be.within(50_000, 60_000)
  })

  it('never reports a negative time, even if the clock advances between two reads', async () => {
    let time = 0
    const counter = createMemoryFailureCounter({ windowMs: 10, now: () => time++ })
    await counter.add('alice')
    for (let look = 0; look < 20; look++) {
      const { failures, forgottenInMs } = await counter.read('alice')
      expect(forgottenInMs > 0, `${failures} failures, ${forgottenInMs} ms`).to.equal(failures > 0)
    }
  })
})

describe('createMemoryCredentialSource', () => {
  it('takes the last of several credentials of one name', async () => {
    const source = createMemoryCredentialSource([
      { name: 'alice', passwordHash: 'old' },
      { name: 'bob', passwordHash: 'b' },
      { name: 'alice', passwordHash: 'new' },
    ])
    expect(await source.find('alice')).to.deep.equal({ name: 'alice', passwordHash: 'new' })
  })

  it('reads the list once', async () => {
    const list = [{ name: 'alice', passwordHash: 'a' }]
    const source = createMemoryCredentialSource(list.values())
    list.pop()
    expect(await source.find('alice')).to.deep.equal({ name: 'alice', passwordHash: 'a' })
    expect(await source.find('alice')).to.deep.equal({ name: 'alice', passwordHash: 'a' })
  })
})
