import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import type { FileDetails } from '@holdfast/client/browser'
import { fileKind, harmlessType, isSlowMarkdown, previewKind } from '../../page/list/file-kind.ts'
import { createFilter, filterFiles, nextOrder, sortFiles } from '../../page/list/filter-and-sort.ts'
import {
  createTypeAhead,
  gridKey,
  selectRange,
  toggle,
  typedLetter,
} from '../../page/list/selection.ts'
import { splitName } from '../../page/i18n/format.ts'
const file = (name: string, about: Partial<FileDetails> = {}): FileDetails => ({
  name,
  size: 1,
  modified: '2026-01-01T00:00:00.000Z',
  type: 'text/plain',
  etag: '"a"',
  ...about,
})
const names = (files: readonly FileDetails[]) => files.map(({ name }) => name)

describe('sortFiles', () => {
  it('sorts names as people do, with numbers as numbers', () => {
    const files = ['b10', 'B9', 'a', 'ä', 'z'].map((name) => file(name))
    const sorted = sortFiles(files, { column: 'name', isDescending: false }, 'de')
    expect(names(sorted)).to.deep.equal(['a', 'ä', 'B9', 'b10', 'z'])
  })

  it('sorts by size, and equal ones by name', () => {
    const files = [file('c', { size: 2 }), file('b'), file('a', { size: 3 }), file('a2')]
    const sorted = sortFiles(files, { column: 'size', isDescending: true }, 'en')
    expect(names(sorted)).to.deep.equal(['a', 'c', 'a2', 'b'])
  })
})

describe('nextOrder', () => {
  it('turns the order of the same column round, and begins others with what is wanted most', () => {
    const byName = nextOrder({ column: 'size', isDescending: true }, 'name')
    expect(byName).to.deep.equal({ column: 'name', isDescending: false })
    expect(nextOrder(byName, 'name').isDescending).to.equal(true)
    expect(nextOrder(byName, 'modified').isDescending).to.equal(true)
  })
})

describe('filterFiles', () => {
  const files = ['Annual Report.pdf', 'Überblick.txt', 'report.txt'].map((name) => file(name))

  for (const [text, found] of [
    ['', names(files)],
    ['REPORT', ['Annual Report.pdf', 'report.txt']],
    ['pdf ann', ['Annual Report.pdf']],
    ['uber', ['Überblick.txt']],
    ['u\u0308ber', ['Überblick.txt']],
    ['nothing', []],
    ['*.pdf', ['Annual Report.pdf']],
    ['*.txt report*', ['report.txt']],
    ['?eport.tx?', ['report.txt']],
    ['*r*o*.???', ['Annual Report.pdf', 'report.txt']],
    ['*.(a+)+$', []],
    ['report', ['Annual Report.pdf', 'report.txt']],
  ] as const) {
    it(`finds ${found.length} by ${JSON.stringify(text)}`, () => {
      expect(names(filterFiles(files, text))).to.deep.equal(found)
    })
  }
})

describe('filterFiles in a folder', () => {
  it('does not look at the beginning that the list leaves out', () => {
    const files = ['Fótos - IMG_1.jpg', 'Fótos - sea.jpg'].map((name) => file(name))
    const found = (text: string) => filterFiles(files, text, 'Fótos - ').map(({ name }) => name)
    expect(found('IMG*')).to.deep.equal(['Fótos - IMG_1.jpg'])
    expect(found('fotos')).to.deep.equal([])
    expect(found('sea')).to.deep.equal(['Fótos - sea.jpg'])
  })
})

describe('createFilter', () => {
  it('finds the same as one types, goes back, and when the files change', () => {
    const filter = createFilter()
    const files = ['ab.txt', 'abc.txt', 'b.txt'].map((name) => file(name))
    for (const text of ['a', 'ab', 'abc', 'ab', '', 'b', 'b a', 'x', '']) {
      expect(filter(files, text), text).to.deep.equal(filterFiles(files, text))
    }
    filter(files, 'ab')
    const others = [file('abcd.txt')]
    expect(filter(others, 'abc')).to.deep.equal(others)
  })
})

describe('selection', () => {
  it('toggles one, and adds a range in either direction', () => {
    expect(toggle(new Set(['a']), 'b')).to.have.keys('a', 'b')
    expect(toggle(new Set(['a', 'b']), 'b')).to.have.keys('a')
    const files = ['a', 'b', 'c', 'd'].map((name) => file(name))
    expect(selectRange(new Set(['d']), files, 2, 1)).to.have.keys('b', 'c', 'd')
  })
})

describe('createTypeAhead', () => {
  it('goes to the next name with a letter, and on with the letters of a word', () => {
    let now = 0
    const find = createTypeAhead(() => now)
    const from = (current: number, prefix = '') => ({ current, prefix })
    const files = ['apple', 'banana', 'blue', 'Blueberry'].map((name) => file(name))
    expect(find('b', files, from(0))).to.equal(1)
    expect(find('b', files, from(1))).to.equal(2)
    expect(find('b', files, from(3))).to.equal(1)
    now += 1000
    let at = 0
    const reached = 'blueb'.split('').map((letter) => (at = find(letter, files, from(at)) ?? -1))
    expect(reached).to.deep.equal([1, 2, 2, 2, 3])
    now += 1000
    expect(find('x', files, from(1))).to.equal(undefined)
    now += 1000
    const inFolder = ['photos - cliffs.jpg', 'photos - sea.jpg'].map((name) => file(name))
    expect(find('s', inFolder, from(0, 'photos - '))).to.equal(1)
    now += 1000
    expect(find('p', inFolder, from(0, 'photos - '))).to.equal(undefined)
  })
})

describe('typedLetter', () => {
  it('is what a key adds to a name, and nothing of a shortcut or of a key that does something', () => {
    const press = (key: string, held = {}) =>
      typedLetter({ key, ctrlKey: false, metaKey: false, altKey: false, ...held })
    expect(['b', 'Ü', '7', '🙂', '-'].map((key) => press(key))).to.deep.equal([
      'b',
      'Ü',
      '7',
      '🙂',
      '-',
    ])
    for (const key of [' ', '/', 'Enter', 'F2', 'ArrowUp', 'Delete']) {
      expect(press(key), key).to.equal(undefined)
    }
    for (const held of ['ctrlKey', 'metaKey', 'altKey']) {
      expect(press('b', { [held]: true }), held).to.equal(undefined)
    }
  })
})

describe('gridKey', () => {
  const press = (key: string, ctrlKey = false) => ({ key, ctrlKey, metaKey: false })

  it('moves within the list', () => {
    const move = (key: string, from: number) => {
      const found = gridKey(press(key), true)
      return typeof found === 'function' ? found(from, 9, 4) : found
    }
    expect([move('ArrowDown', 9), move('ArrowUp', 0)]).to.deep.equal([9, 0])
    expect([move('PageDown', 1), move('PageUp', 6)]).to.deep.equal([5, 2])
    expect([move('Home', 5), move('End', 5)]).to.deep.equal([0, 9])
  })

  it('leaves Enter and Space to a button in a row', () => {
    expect(gridKey(press('Enter'), true)).to.equal('open')
    expect(gridKey(press('Enter'), false)).to.equal(undefined)
    expect(gridKey(press(' '), false)).to.equal(undefined)
    expect(gridKey(press('Delete'), false)).to.equal('delete')
  })

  it('leaves shortcuts to the browser, but for "select all"', () => {
    expect(gridKey(press('a', true), true)).to.equal('selectAll')
    expect(gridKey(press('ArrowDown', true), true)).to.equal(undefined)
  })
})

describe('splitName', () => {
  it('keeps the end of a long name with its extension', () => {
    expect(splitName('a very long name of a file.pdf')).to.deep.equal([
      'a very long name of a ',
      'file.pdf',
    ])
    expect(splitName('short.txt')).to.deep.equal(['short', '.txt'])
    expect(splitName('.profile')).to.deep.equal(['.profile', ''])
  })

  it('leaves letters that are joined together', () => {
    const name = 'التقرير السنوي الكامل.pdf'
    expect(splitName(name)).to.deep.equal([name.slice(0, -4), '.pdf'])
    expect(splitName('cafe\u0301 cafe\u0301 cafe\u0301.txt')[1]).to.equal('.txt')
  })

  it('cuts no character in two', () => {
    const parts = splitName('😀'.repeat(20))
    expect(parts.map((part) => part.isWellFormed())).to.deep.equal([true, true])
  })
})

describe('fileKind', () => {
  for (const [name, type, kind] of [
    ['a.png', 'image/png', 'image'],
    ['a.ts', 'video/mp2t', 'text'],
    ['a.mp4', 'video/mp4', 'video'],
    ['a.json', 'application/json; charset=utf-8', 'text'],
    ['a.svg', 'image/svg+xml', 'image'],
    ['a.html', 'text/html; charset=utf-8', 'text'],
    ['a.csv', 'text/csv', 'sheet'],
    ['a', 'application/octet-stream', 'other'],
  ] as const) {
    it(`takes ${type} of ${name} for ${kind}`, () => {
      expect(fileKind(file(name, { type }))).to.equal(kind)
    })
  }
})

describe('previewKind', () => {
  it('shows what could run scripts as text', () => {
    for (const type of ['text/html', 'application/xhtml+xml', 'text/javascript', 'text/xml']) {
      expect(previewKind(file('a', { type }), true), type).to.equal('text')
    }
  })

  it('shows a PDF by a link only, and never as a blob of this origin', () => {
    const pdf = file('a.pdf', { type: 'application/pdf' })
    expect([previewKind(pdf, true), previewKind(pdf, false)]).to.deep.equal(['pdf', 'none'])
  })

  it('takes nothing large into memory', () => {
    const film = file('a', { type: 'video/mp4', size: 1e9 })
    expect(previewKind(film, false)).to.equal('too-large')
    expect(previewKind(film, true)).to.equal('video')
  })
})

describe('harmlessType', () => {
  it('lets a blob be nothing that browsers open as a document with scripts', () => {
    expect(harmlessType('image/png')).to.equal('image/png')
    expect(harmlessType('audio/mpeg; a=b')).to.equal('audio/mpeg')
    for (const type of ['text/html', 'application/xhtml+xml', 'application/pdf', '']) {
      expect(harmlessType(type), type).to.equal('text/plain')
    }
  })
})

describe('isSlowMarkdown', () => {
  const size = 128 * 1024
  const repeated = (part: string) => part.repeat(size / part.length)
  const slow: Readonly<Record<string, string>> = {
    'a long word with an @': `${'a'.repeat(size - 1)}@`,
    'many long words': repeated(`${'a'.repeat(2000)}@ `),
    'emphasis within a word': repeated('_a'),
    'a long paragraph with emphasis': repeated('__init__ and *args, **kwargs _x_1\n'),
    'beginnings of comments': repeated('<!-- '),
    'beginnings of instructions': repeated('<? '),
    'lists in each other': repeated('- '),
    'quotations in each other': repeated('> '),
    'numbered lists in each other': repeated('1. '),
  }
  for (const [what, text] of Object.entries(slow)) {
    it(`recognises ${what}`, () => expect(isSlowMarkdown(text)).to.equal(true))
  }

  it('lets through what people write', () => {
    for (const name of ['CONTRIBUTING.md', 'docs/api.md', 'docs/configuration.md']) {
      const text = readFileSync(new URL(`../../../../${name}`, import.meta.url), 'utf8')
      expect(isSlowMarkdown(text), name).to.equal(false)
    }
    expect(isSlowMarkdown(repeated('- an entry of a list\n'))).to.equal(false)
    expect(isSlowMarkdown(repeated('| a | b |\n'))).to.equal(false)
    expect(isSlowMarkdown(repeated('- an *entry* of a list\n\n'))).to.equal(false)
  })
})
