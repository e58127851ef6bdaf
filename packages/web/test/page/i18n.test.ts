import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { de } from '../../page/i18n/de.ts'
import { en } from '../../page/i18n/en.ts'
import { es } from '../../page/i18n/es.ts'
import { fr } from '../../page/i18n/fr.ts'
import { formatDate, formatDuration, formatSize } from '../../page/i18n/format.ts'
import { fillIn } from '../../page/i18n/strings.ts'

const others = { de, fr, es }

const places = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort()
const plain = (text: string) => text.replaceAll(/[\u00a0\u202f]/g, ' ')

describe('The texts of the page', () => {
  it('have the same values in each language', () => {
    for (const key of Object.keys(en) as (keyof typeof en)[]) {
      // "One" may go without its number.
      if (key.endsWith('.one')) continue
      for (const [tag, texts] of Object.entries(others)) {
        expect(places(texts[key]), `${tag}: ${key}`).to.deep.equal(places(en[key]))
      }
    }
  })

  it('are all there in each language, and are all used', () => {
    for (const [tag, texts] of Object.entries(others)) {
      expect(Object.keys(texts), tag).to.have.members(Object.keys(en))
    }
    const folder = join(import.meta.dirname, '../../page')
    const sources = globSync(['**/*.{ts,tsx}'], { cwd: folder, exclude: ['i18n/{en,de,fr,es}.ts'] })
      .map((path) => readFileSync(join(folder, path), 'utf8'))
      .join('\n')
    const unused = Object.keys(en).filter((key) => {
      const name = key.replace(/\.(one|other)$/, '')
      return !sources.includes(`'${name}'`) && !sources.includes(`"${name}"`)
    })
    expect(unused).to.deep.equal([])
  })

  it('keep names in another direction from turning the words around them', () => {
    for (const name of ['تقرير.pdf', 'דוח.docx', 'evil\u202egpj.exe']) {
      expect(fillIn('“{name}”.', { name })).to.equal(`“\u2068${name}\u2069”.`)
    }
  })

  it('take values, and keep the place of one that is missing', () => {
    expect(fillIn('{a} of {b}, {c}', { a: 1, b: '{a}' })).to.equal('1 of {a}, {c}')
  })
})

describe('formatSize', () => {
  for (const [bytes, text] of [
    [0, '0 bytes'],
    [1, '1 byte'],
    [999, '999 bytes'],
    [1000, '1 kB'],
    [1_234_567, '1.2 MB'],
    [123_456_789, '123 MB'],
    [5e9, '5 GB'],
    [1e16, '10,000 TB'],
  ] as const) {
    it(`shows ${bytes} as ${text}`, () => expect(plain(formatSize(bytes, 'en'))).to.equal(text))
  }

  it('speaks German', () => expect(plain(formatSize(1_234_567, 'de'))).to.equal('1,2 MB'))
})

describe('formatDuration', () => {
  for (const [seconds, text] of [
    [0, '1 sec'],
    [12, '15 sec'],
    [59, '1 min'],
    [200, '3 min'],
    [4800, '1 hr 20 min'],
    [7200, '2 hr'],
  ] as const) {
    it(`shows ${seconds} seconds as ${text}`, () =>
      expect(plain(formatDuration(seconds, 'en'))).to.equal(text))
  }
})

describe('formatDate', () => {
  const now = new Date(2026, 10, 23, 15)

  it('shows the time of today, and the year of other years', () => {
    expect(plain(formatDate(new Date(2026, 10, 23, 9, 5), now, 'en'))).to.equal('9:05 AM')
    expect(formatDate(new Date(2026, 2, 4), now, 'en')).to.equal('Mar 4')
    expect(formatDate(new Date(2024, 2, 4), now, 'en')).to.equal('Mar 4, 2024')
  })
})
