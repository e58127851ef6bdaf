import { nameProblem } from '@holdfast/core'
import { expect } from 'chai'
import {
  folderTitle,
  foldersFromName,
  nameFromPath,
  numberedName,
  prefixFromPath,
} from '../src/index.ts'

const bytes = (text: string) => Buffer.byteLength(text)

const long = 'ü'.repeat(70)
const paths = [
  ...['a', 'a.txt', 'a/b', 'a/b/c.jpeg', 'a - b', 'a/ - /b', 'a\nb', '\u007f/x'],
  ...['.hidden', '...', '/'],
  ...['x'.repeat(255), 'x'.repeat(256), `${'x'.repeat(300)}.txt`, `${long}/${long}/${long}.tar.gz`],
  ...[`${'😀'.repeat(90)}/a`, `a/${'密'.repeat(100)}.${'e'.repeat(20)}`, `${long}/${long}/a\u0001`],
]

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

  it('makes names that the server takes', () => {
    for (const path of paths) expect(nameProblem(nameFromPath(path)), path).to.equal(undefined)
  })
})

describe('prefixFromPath', () => {
  it('gives what the names of all files in a folder begin with', () => {
    for (const path of paths) {
      const folders = path.split('/')
      for (let depth = 0; depth < folders.length; depth++) {
        const prefix = prefixFromPath(folders.slice(0, depth).join('/'))
        expect(nameFromPath(path).startsWith(prefix), `${path}: ${prefix}`).to.equal(true)
      }
    }
  })

  it('gives nothing for what is in no folder', () => {
    expect(prefixFromPath('')).to.equal('')
    expect(prefixFromPath('a/b')).to.equal('a - b - ')
  })
})

describe('numberedName', () => {
  it('puts the number before the extension', () => {
    expect(numberedName('a.txt', 2)).to.equal('a (2).txt')
    expect(numberedName('archive', 3)).to.equal('archive (3)')
    expect(numberedName('.profile', 2)).to.equal('.profile (2)')
  })

  it('stays within 255 bytes', () => {
    expect(Buffer.byteLength(numberedName(`${'a'.repeat(251)}.txt`, 12))).to.equal(255)
  })
})

describe('foldersFromName', () => {
  for (const [name, folders] of [
    ['sea.jpg', []],
    ['photos - sea.jpg', ['photos - ']],
    ['photos - 2026 - sea.jpg', ['photos - ', 'photos - 2026 - ']],
    ['a-b', []],
    [' - a', []],
    ['a - ', []],
    ['a -   ', []],
    ['a -  - b', ['a - ']],
    ['a - - b', ['a - ']],
    ['   - a - b', ['   - a - ']],
  ] as const) {
    it(`finds ${folders.length} in ${JSON.stringify(name)}`, () => {
      expect(foldersFromName(name)).to.deep.equal(folders)
    })
  }

  it('finds the folders of a path in the name that is made of it', () => {
    const folders = foldersFromName(nameFromPath('photos/2026/sea.jpg'))
    expect(folders).to.deep.equal(['photos', 'photos/2026'].map(prefixFromPath))
    expect(folders.map(folderTitle)).to.deep.equal(['photos', '2026'])
  })
})
