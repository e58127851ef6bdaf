import { expect } from 'chai'
import { localName } from '../../../src/remote/get/targets.ts'

describe('localName', () => {
  const leadElsewhere = ['', '.', '..', '/', '/etc/passwd', '../x', 'a/b', 'a/../../b', 'a\0b']
  for (const name of leadElsewhere) {
    it(`refuses ${JSON.stringify(name)}, whatever a server says`, () => {
      expect(() => localName(name, 'linux')).to.throw('No file on this machine can have that name')
    })
  }

  it('refuses the names of downloads that have not ended, whose content a later command would trust', () => {
    expect(() => localName('.holdfast-x.part', 'linux')).to.throw('No file on this machine')
    expect(localName('.holdfast-x', 'linux')).to.equal('.holdfast-x')
  })

  it('keeps every other name', () => {
    for (const name of ['...', '.a', '~', '..\\x', 'CON', 'a:b', '-', '*', 'a ', '\u202Ea']) {
      expect(localName(name, 'linux')).to.equal(name)
    }
  })

  it('refuses what Windows takes for a path, a device or a stream', () => {
    for (const name of ['..\\x', 'a\\b', 'C:x', 'a:b', 'CON', 'nul.txt', 'com1', 'a.', 'a ', '*']) {
      expect(() => localName(name, 'win32'), name).to.throw('No file')
    }
    for (const name of ['a', 'console', 'a.b', '.a']) {
      expect(localName(name, 'win32')).to.equal(name)
    }
  })
})
