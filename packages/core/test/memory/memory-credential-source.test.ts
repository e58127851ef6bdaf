import { expect } from 'chai'
import { createMemoryCredentialSource } from '../../src/memory/memory-logins.ts'

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
