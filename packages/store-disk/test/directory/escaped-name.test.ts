import { expect } from 'chai'
import fc from 'fast-check'
import { nameProblem } from '@holdfast/core'
import { nastyNames } from '@holdfast/contract'
import { decodeEscapedName, encodeEscapedName } from '../../src/directory/layout.ts'

/** Names that meet where an encoding is careless: case, accents, escapes, devices, dots, and the length of a component. */
const fragment = fc.constantFrom(
  ...[
    'a',
    'A',
    'é',
    'e\u0301',
    'É',
    'k',
    '\u212a',
    'ß',
    'ẞ',
    '%',
    '%41',
    '41',
    '.',
    '..',
    ' ',
    '~1',
  ],
  ...[
    'con',
    'nul',
    'com1',
    'CON',
    'con.',
    '\\',
    ':',
    '漢',
    '\u{1f600}',
    'x'.repeat(119),
    'y'.repeat(60),
  ],
)
const anyName = fc
  .oneof(
    fc.array(fragment, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('')),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
  )
  .filter((name) => nameProblem(name) === undefined)

/** What the most eager file system sees of a path. */
const folded = (name: string) =>
  encodeEscapedName(name)
    .map((part) => part.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKD'))
    .map((part) => part.replace(/[. ]+$/, ''))
    .join('/')

describe('encodeEscapedName', () => {
  it('keeps lower-case letters, digits, dots, hyphens and underscores', () => {
    expect(encodeEscapedName('report-2026_v1.pdf')).to.deep.equal(['report-2026_v1.pdf'])
  })

  it('writes every other byte as two hex digits', () => {
    expect(encodeEscapedName('Ä b%')).to.deep.equal(['%c3%84%20b%25'])
  })

  it('escapes device names of Windows and a dot at the end', () => {
    expect(
      ['con', 'nul.txt', 'com7.a.b', 'console', '\u{1f600}.'].map(encodeEscapedName),
    ).to.deep.equal([['%63on'], ['%6eul.txt'], ['%63om7.a.b'], ['console'], ['%f0%9f%98%80%2e']])
  })

  it('goes on in a directory below where a component is full', () => {
    expect(encodeEscapedName('a'.repeat(121))).to.deep.equal(['a'.repeat(120) + '%', 'a'])
  })

  it('gives no two names paths that any file system takes for one', () => {
    fc.assert(
      fc.property(anyName, anyName, (a, b) => {
        expect(folded(a) === folded(b)).to.equal(a === b)
      }),
      { numRuns: 3000 },
    )
    expect(new Set(nastyNames.map(folded)).size).to.equal(new Set(nastyNames).size)
  })

  it('gives components that every file system takes, and none that leads outside', () => {
    fc.assert(
      fc.property(anyName, (name) => {
        for (const part of encodeEscapedName(name)) {
          expect(part).to.match(/^(?!\.+$)[a-z0-9_.%-]{1,123}(?<!\.)$/)
          expect(part).not.to.match(/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/)
        }
      }),
      { numRuns: 3000 },
    )
  })

  it('is undone by decodeEscapedName', () => {
    fc.assert(fc.property(anyName, (name) => decodeEscapedName(encodeEscapedName(name)) === name))
  })
})

describe('decodeEscapedName', () => {
  it('knows no name for a spelling that encodeEscapedName does not use', () => {
    const spellings = ['A', '%41%', '%4', '%zz', '%61', 'a.', 'con', '%C3%A4', '%ff', '', 'a b']
    for (const spelling of spellings) expect(decodeEscapedName([spelling])).to.equal(undefined)
    expect(decodeEscapedName(['a%', 'b'])).to.equal(undefined)
  })
})
