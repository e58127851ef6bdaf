import { hashPassword } from '@holdfast/passwords'
import { cheapCost } from '@holdfast/testing'
import { expect } from 'chai'
import type { FileCredentialSource } from '../src/open-file-credential-source.ts'
import { plainCustomers, useCustomersFile } from './customers-file-fixture.ts'

const keyOf = async (source: FileCredentialSource, name: string) =>
  Buffer.from((await source.linkKey(name)) ?? '').toString('hex')

describe('linkKey of openFileCredentialSource', () => {
  const file = useCustomersFile()
  const open = async () => (await file.open({ pollIntervalMs: 0 })).source

  it('is the same for a password in plain text in every process that reads the file', async () => {
    await file.write(plainCustomers('a', 'b'))
    const [one, other] = [await open(), await open()]
    const keys = await Promise.all(['a', 'b'].map((name) => keyOf(one, name)))
    expect(keys[0]).to.match(/^[0-9a-f]{64}$/u)
    expect(keys[1]).to.not.equal(keys[0])
    expect(await Promise.all(['a', 'b'].map((name) => keyOf(other, name)))).to.deep.equal(keys)
  })

  it('changes with a password in plain text, at the reload, and not with the rest of the file', async () => {
    await file.write(plainCustomers('a', 'b'))
    const source = await open()
    const [a, b] = [await keyOf(source, 'a'), await keyOf(source, 'b')]
    await file.replace(plainCustomers('b', 'a', 'c').replace('pw-a', 'pw-new'))
    expect(await source.reload()).to.equal(true)
    expect(await keyOf(source, 'a')).to.not.equal(a)
    expect(await keyOf(source, 'b')).to.equal(b)
    await file.replace(plainCustomers('a'))
    await source.reload()
    expect(await keyOf(source, 'a')).to.equal(a)
    expect(await source.linkKey('b')).to.equal(undefined)
  })

  it('changes when the same password is hashed, and hashed again', async () => {
    const keys = []
    await file.write(plainCustomers('a'))
    const source = await open()
    keys.push(await keyOf(source, 'a'))
    for (let n = 0; n < 2; n++) {
      const hash = await hashPassword('pw-a', cheapCost)
      await file.replace(`customers:\n  - {name: a, password: "${hash}"}\n`)
      await source.reload()
      keys.push(await keyOf(source, 'a'))
    }
    expect(new Set(keys)).to.have.property('size', 3)
  })

  it('is right for many who ask at once, while the file is read again', async () => {
    await file.write(plainCustomers('a', 'b', 'c'))
    const source = await open()
    const asking = Promise.all(Array.from({ length: 20 }, () => keyOf(source, 'c')))
    await file.replace(plainCustomers('c', 'd'))
    const reloading = source.reload()
    const [first, ...others] = await asking
    expect(new Set(others)).to.deep.equal(new Set([first]))
    await reloading
    expect(await keyOf(source, 'c')).to.equal(first)
  })
})
