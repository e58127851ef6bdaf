import { expect } from 'chai'
import { nameFromPath, numbered } from '../../page/uploads/name-from-path.ts'

const bytes = (text: string) => Buffer.byteLength(text)

describe('nameFromPath', () => {
  for (const [path, name] of [
    ['a.txt', 'a.txt'],
    ['photos/sea.jpg', 'photos - sea.jpg'],
    ['/photos/2026/sea.jpg', 'photos - 2026 - sea.jpg'],
    ['a//b', 'a - b'],
    ['tab\tand\nline.txt', 'tab_and_line.txt'],
    ['..', '_..'],
    ['.', '_.'],
    ['', '_'],
    ['日本/語.txt', '日本 - 語.txt'],
    ['a\\b', 'a\\b'],
  ] as const) {
    it(`makes ${JSON.stringify(name)} of ${JSON.stringify(path)}`, () => {
      expect(nameFromPath(path)).to.equal(name)
    })
  }

  it('shortens what is longer than 255 bytes, and keeps the extension', () => {
    const name = nameFromPath(`${'folder/'.repeat(50)}report.pdf`)
    expect(bytes(name)).to.equal(255)
    expect(name).to.match(/^folder - folder.*~[0-9a-f]{8}\.pdf$/)
  })

  it('cuts no character in two', () => {
    for (const stem of ['語'.repeat(100), `a${'語'.repeat(100)}`, `aa${'😀'.repeat(80)}`]) {
      const name = nameFromPath(`${stem}.txt`)
      expect(bytes(name)).to.be.within(250, 255)
      expect(name.isWellFormed()).to.equal(true)
    }
  })

  it('keeps two long paths apart that differ at the end only', () => {
    const folder = 'folder/'.repeat(50)
    expect(nameFromPath(`${folder}a.txt`)).not.to.equal(nameFromPath(`${folder}b.txt`))
  })
})

describe('numbered', () => {
  it('puts the number before the extension', () => {
    expect(numbered('a.txt', 2)).to.equal('a (2).txt')
    expect(numbered('archive', 3)).to.equal('archive (3)')
    expect(numbered('.profile', 2)).to.equal('.profile (2)')
  })

  it('stays within 255 bytes', () => {
    expect(bytes(numbered(`${'a'.repeat(251)}.txt`, 12))).to.equal(255)
  })
})
