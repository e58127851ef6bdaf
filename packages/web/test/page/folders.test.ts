import { expect } from 'chai'
import type { ViewedFile } from '../../page/api/connection.ts'
import {
  crumbsOf,
  entriesOf,
  filesBelow,
  folderInHash,
  folderPaths,
  hashOfFolder,
  movedName,
  nameInFolder,
  nameInRenamed,
  selectedFiles,
  withoutFiles,
} from '../../page/list/folders.ts'

const file = (name: string, size = 1, modified = '2026-01-01'): ViewedFile => ({
  name,
  size,
  modified,
  type: 'text/plain',
  etag: '"1"',
})
const names = (files: readonly ViewedFile[]) => files.map(({ name }) => name)

const files = [
  file('a.txt'),
  file('photos - 2025 - b.jpg', 2, '2026-02-02'),
  file('photos - 2026 - c.jpg', 3),
  file('photos - d.jpg', 4),
  file('photos - '),
  file('photos'),
]

describe('entriesOf', () => {
  it('has a folder once, with the number, the size and the last change of all below', () => {
    const { folders, files: own } = entriesOf(files, '')
    expect(names(own)).to.deep.equal(['a.txt', 'photos - ', 'photos'])
    expect(folders).to.have.length(1)
    expect(folders[0]).to.deep.include({
      size: 9,
      modified: '2026-02-02',
      folder: { prefix: 'photos - ', title: 'photos', count: 3 },
    })
  })

  it('shows of a folder what is in it', () => {
    const below = filesBelow(files, 'photos - ')
    const { folders, files: own } = entriesOf(below, 'photos - ')
    expect(folders.map(({ folder }) => folder?.title)).to.deep.equal(['2025', '2026'])
    expect(names(own)).to.deep.equal(['photos - d.jpg'])
  })

  it('gives folders names that no file can have', () => {
    for (const { name } of entriesOf(files, '').folders) expect(name).to.match(/\/$/)
  })
})

describe('selectedFiles', () => {
  it('has all files below a selected folder, once, and the selected files', () => {
    const [folder] = entriesOf(files, '').folders
    const selected = new Set([folder!.name, 'a.txt', 'photos - d.jpg'])
    expect(names(selectedFiles(files, selected))).to.deep.equal([
      'a.txt',
      'photos - 2025 - b.jpg',
      'photos - 2026 - c.jpg',
      'photos - d.jpg',
    ])
    expect(selectedFiles(files, new Set())).to.deep.equal([])
  })
})

describe('withoutFiles', () => {
  it('deselects files that are gone, and the folders around them', () => {
    const selected = new Set(['a.txt', 'photos - /', 'b - /', 'c.txt'])
    const left = withoutFiles(selected, ['c.txt', 'photos - 2026 - c.jpg'])
    expect([...left]).to.deep.equal(['a.txt', 'b - /'])
  })
})

describe('movedName', () => {
  for (const [name, moved, path, expected] of [
    ['sea.jpg', [], 'photos/2026', 'photos - 2026 - sea.jpg'],
    ['photos - sea.jpg', [], '', 'sea.jpg'],
    ['a - b - c.txt', ['a - b - '], '', 'b - c.txt'],
    ['a - b - c.txt', ['a - '], 'x', 'x - a - b - c.txt'],
    ['a - b - c.txt', ['a - ', 'a - b - '], 'x', 'x - a - b - c.txt'],
  ] as const) {
    it(`makes ${expected} of ${name} in ${path || 'no folder'}`, () => {
      expect(movedName(name, new Set<string>(moved), path)).to.equal(expected)
    })
  }
})

it('nameInFolder and nameInRenamed keep the extension of a name that becomes too long', () => {
  expect(nameInFolder('', 'a.txt')).to.equal('a.txt')
  expect(nameInFolder('a - b - ', 'c - d.txt')).to.equal('a - b - c - d.txt')
  expect(nameInRenamed('a - b - c - d.txt', 'a - b - ', 'new')).to.equal('a - new - c - d.txt')
  expect(nameInRenamed('b - d.txt', 'b - ', 'new/er')).to.equal('new - er - d.txt')
  const long = nameInFolder(`${'f'.repeat(200)} - `, `${'n'.repeat(100)}.txt`)
  expect(long)
    .to.have.length(255)
    .and.match(/~[0-9a-f]{8}\.txt$/)
})

it('folderPaths has each folder once', () => {
  expect(folderPaths(files)).to.deep.equal(['photos', 'photos/2025', 'photos/2026'])
})

describe('the folder in the address', () => {
  for (const prefix of ['photos - ', 'photos - 2026 - ', 'Ünïcode - 100% - #x - ', 'a -  b - ']) {
    it(`leads to ${JSON.stringify(prefix)} and back`, () => {
      expect(folderInHash(hashOfFolder(prefix).slice(1))).to.equal(prefix)
    })
  }

  it('is none where the address has none, or is no address of a folder', () => {
    expect(hashOfFolder('')).to.equal('#/')
    for (const hash of ['', '/', 'deleted', '/%E0%A4%A', '//', '/..']) {
      expect(folderInHash(hash), hash).to.be.oneOf(['', '.. - '])
    }
  })

  it('has a crumb for each folder', () => {
    expect(crumbsOf('a - b - ')).to.deep.equal([
      { prefix: 'a - ', title: 'a' },
      { prefix: 'a - b - ', title: 'b' },
    ])
  })
})
