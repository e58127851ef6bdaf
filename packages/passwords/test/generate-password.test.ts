import { expect } from 'chai'
import { generatePassword } from '../src/hash-password.ts'

describe('generatePassword', () => {
  const passwords = Array.from({ length: 2_000 }, generatePassword)

  it('makes 24 characters that need no quoting in a URL or a shell', () => {
    for (const password of passwords) {
      expect(password).to.match(/^[A-Za-z0-9][A-Za-z0-9_-]{22}[A-Za-z0-9]$/)
    }
  })

  it('never makes the same twice', () => {
    expect(new Set(passwords).size).to.equal(passwords.length)
  })

  it('uses every character', () => {
    expect(new Set(passwords.join('')).size).to.equal(64)
  })
})
