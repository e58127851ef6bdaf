import { expect } from 'chai'
import { isFileServiceError } from '../../src/model/errors.ts'
import { checkFileName, maxNameBytes, nameProblem } from '../../src/model/file-name.ts'

const problems: readonly (readonly [name: string, problem: string])[] = [
  ['', 'it is empty'],
  ['.', 'it is "."'],
  ['..', 'it is ".."'],
  ['/', 'it contains a slash'],
  ['a/b', 'it contains a slash'],
  ['/etc/passwd', 'it contains a slash'],
  ['../a', 'it contains a slash'],
  ['a/', 'it contains a slash'],
  ['\ud800', 'it is not valid Unicode'],
  ['a\udc00b', 'it is not valid Unicode'],
  ['\udc00\ud800', 'it is not valid Unicode'],
  ['a'.repeat(256), 'it is longer than 255 bytes'],
  ['é'.repeat(128), 'it is longer than 255 bytes'],
  ['字'.repeat(86), 'it is longer than 255 bytes'],
  ['😀'.repeat(64), 'it is longer than 255 bytes'],
  ['a' + '字'.repeat(85), 'it is longer than 255 bytes'],
]

const names = [
  'a',
  'report.pdf',
  '...',
  '.hidden',
  '..hidden',
  'trailing ',
  ' leading',
  ' ',
  'a\\b',
  'C:\\x',
  '%41',
  '%2F',
  'CON',
  'nul.txt',
  '__proto__',
  'constructor',
  '~',
  '*',
  '?',
  '"',
  "'",
  'a\u0080b',
  '\u009f',
  '\u00a0',
  '\u2028',
  '\u2215',
  '\uff0f',
  '\ufeff',
  '\ufffd',
  'caf\u00e9',
  'cafe\u0301',
  '😀',
  'a'.repeat(255),
  'é'.repeat(127),
  '字'.repeat(85),
  '😀'.repeat(63) + 'abc',
]

describe('nameProblem', () => {
  for (const [name, problem] of problems) {
    it(`says of ${JSON.stringify(name.slice(0, 20))} (${name.length}) that ${problem}`, () => {
      expect(nameProblem(name)).to.equal(problem)
    })
  }

  it('finds a control character wherever it is', () => {
    const codes = [...Array.from({ length: 32 }, (_, code) => code), 127]
    for (const code of codes) {
      const control = String.fromCharCode(code)
      for (const name of [control, `a${control}`, `${control}a`, `a${control}b`]) {
        expect(nameProblem(name), `U+${code.toString(16)}`).to.equal(
          'it contains a control character',
        )
      }
    }
  })

  it('has nothing against any other character of one byte', () => {
    for (let code = 32; code < 127; code++) {
      const character = String.fromCharCode(code)
      if ('/.'.includes(character)) continue
      expect(nameProblem(character), character).to.equal(undefined)
    }
  })

  for (const name of names) {
    it(`has nothing against ${JSON.stringify(name.slice(0, 20))} (${name.length})`, () => {
      expect(nameProblem(name)).to.equal(undefined)
    })
  }

  it('draws the line at maxNameBytes for every width of character', () => {
    for (const character of ['a', 'é', '字', '😀']) {
      for (let count = 1; count <= 300; count++) {
        const name = character.repeat(count)
        const fits = Buffer.byteLength(name) <= maxNameBytes
        expect(nameProblem(name) === undefined, `${count} of ${character}`).to.equal(fits)
      }
    }
  })
})

describe('maxNameBytes', () => {
  it('is what common file systems take', () => {
    expect(maxNameBytes).to.equal(255)
  })
})

describe('checkFileName', () => {
  it('throws invalid-file-name with the reason', () => {
    for (const [name, problem] of problems) {
      expect(() => checkFileName(name))
        .to.throw(`Invalid filename: ${problem}`)
        .that.satisfies((error: unknown) => isFileServiceError(error, 'invalid-file-name'))
    }
  })

  it('lets a good name pass', () => {
    for (const name of names) expect(() => checkFileName(name)).not.to.throw()
  })
})
