import { expect } from 'chai'
import { partFileName } from '../../src/uploads/form-syntax.ts'

const names: Readonly<Record<string, string>> = {
  'a.txt': 'a.txt',
  'dir/a.txt': 'a.txt',
  '/etc/passwd': 'passwd',
  '../../a': 'a',
  'a/': '',
  '..': '..',
  '': '',
  'C:\\dir\\a.txt': 'C:\\dir\\a.txt',
  ' a ': ' a ',
  '%2Fa': '%2Fa',
  '\ufffd/a': 'a',
}

describe('partFileName', () => {
  for (const [filename, name] of Object.entries(names)) {
    it(`takes ${JSON.stringify(name)} from ${JSON.stringify(filename)}`, () => {
      expect(partFileName(filename)).to.equal(name)
    })
  }
  it('refuses what was not UTF-8', () => {
    expect(() => partFileName('dir/a\ufffd'))
      .to.throw('Invalid filename: it is not valid UTF-8, or contains a control character')
      .with.property('status', 400)
  })
})
