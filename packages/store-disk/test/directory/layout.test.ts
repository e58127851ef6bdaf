import { join } from 'node:path'
import { expect } from 'chai'
import { createLayout } from '../../src/directory/layout.ts'

describe('createLayout', () => {
  const plain = createLayout('/data/files', 'plain')
  const escaped = createLayout('/data/files', 'escaped')

  it('keeps a file under its own name in the directory of its customer', () => {
    const path = plain.blobPath({ customer: 'Zoë', name: 'Report 1.pdf' })
    expect(path).to.equal(join('/data/files', 'Zoë', 'Report 1.pdf'))
  })

  it('escapes the customer as it escapes the file', () => {
    const path = escaped.blobPath({ customer: 'Zoë', name: 'Report 1.pdf' })
    expect(path).to.equal(join('/data/files', '%5ao%c3%ab', '%52eport%201.pdf'))
  })

  it('refuses with a TypeError what could reach outside', () => {
    for (const name of ['', '.', '..', '../a', 'a/b', '/', 'a\0b', 'x'.repeat(256), '\ud800']) {
      for (const layout of [plain, escaped]) {
        expect(() => layout.blobPath({ customer: 'a', name }), name).to.throw(TypeError)
        expect(() => layout.blobPath({ customer: name, name: 'a' }), name).to.throw(TypeError)
        expect(() => layout.customerDirectory(name), name).to.throw(TypeError)
      }
    }
  })

  it('knows no name for a path that no name has', () => {
    expect(plain.nameAt(['a', 'b'])).to.equal(undefined)
    expect(plain.nameAt(['a\u0001'])).to.equal(undefined)
    expect(escaped.nameAt(['%2e%2e'])).to.equal(undefined)
    expect(escaped.nameAt(['%2fetc'])).to.equal(undefined)
  })
})
