import { expect } from 'chai'
import { rememberPasswords } from '../src/create-password-verifier.ts'

describe('rememberPasswords', () => {
  const asked: (string | undefined)[] = []
  const verify = async (password: string, passwordHash: string | undefined) => {
    asked.push(passwordHash)
    return password === passwordHash
  }
  beforeEach(() => void asked.splice(0))

  it('asks once about a right password, and says at once from then on that it is right', async () => {
    const remembering = rememberPasswords(verify)
    expect(await remembering('a', 'a')).to.equal(true)
    expect(remembering('a', 'a')).to.equal(true)
    expect(asked).to.deep.equal(['a'])
  })

  it('asks every time about a wrong one, about another hash, and about an unknown customer', async () => {
    const remembering = rememberPasswords(verify)
    await remembering('a', 'a')
    for (const passwordHash of ['b', 'b', undefined, undefined]) {
      expect(await remembering('a', passwordHash)).to.equal(false)
    }
    expect(asked).to.deep.equal(['a', 'b', 'b', undefined, undefined])
  })
})
