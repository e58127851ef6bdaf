import { expect } from 'chai'
import { placePackages } from '../place-packages.ts'
import { packageOf } from './package-of.ts'

const packages = [
  packageOf('contract', ['core']),
  packageOf('core', []),
  packageOf('credentials-file', ['core', 'passwords']),
  packageOf('holdfast', ['core', 'server']),
  packageOf('passwords', ['core']),
  packageOf('server', ['core', 'credentials-file', 'passwords', 'store-disk']),
  packageOf('store-disk', ['core']),
  { ...packageOf('testing', ['core']), isPrivate: true },
]

const placeOf = (name: string) => placePackages(packages).find((place) => place.name === name)

describe('placePackages', () => {
  it('puts each package above all that it imports', () => {
    expect(placePackages(packages).map(({ name, row }) => [name, row])).to.deep.equal([
      ['contract', 1],
      ['core', 0],
      ['credentials-file', 2],
      ['holdfast', 4],
      ['passwords', 1],
      ['server', 3],
      ['store-disk', 1],
    ])
  })

  it('makes a package as wide as what it stands on, or what stands on it', () => {
    expect(placeOf('core')?.columns).to.deep.equal([0, 2])
    expect(placeOf('contract')?.columns).to.deep.equal([0, 0])
    expect(placeOf('store-disk')?.columns).to.deep.equal([1, 1])
    expect(placeOf('credentials-file')?.columns).to.deep.equal([2, 2])
    expect(placeOf('holdfast')?.columns).to.deep.equal([1, 2])
  })

  it('leaves out imports that follow from others, and private packages', () => {
    expect(placeOf('server')?.imports).to.deep.equal(['credentials-file', 'store-disk'])
    expect(placeOf('holdfast')?.imports).to.deep.equal(['server'])
    expect(placeOf('testing')).to.equal(undefined)
  })

  it('marks a package that no other imports', () => {
    const marked = placePackages(packages).filter(({ isForTests }) => isForTests)
    expect(marked.map(({ name }) => name)).to.deep.equal(['contract'])
  })
})
