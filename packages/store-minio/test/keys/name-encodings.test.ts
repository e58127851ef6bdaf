import { nastyNames } from '@holdfast/contract'
import { compareUtf8, nameProblem } from '@holdfast/core'
import { expect } from 'chai'
import fc from 'fast-check'
import { encodeName, nameEncodings } from '../../src/keys/object-keys.ts'

/** Made of what matters here, so that dots, spaces and backslashes meet often. */
const names = fc
  .oneof(
    fc.string({ unit: fc.constantFrom('.', ' ', '\\', '-', '!', 'a', '\u001f') }),
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom(...nastyNames),
  )
  .filter((name) => nameProblem(name) === undefined)

describe('encodeName', () => {
  for (const name of [
    'a',
    'a b',
    'a.b',
    '...',
    '.hidden',
    'a\\b',
    'C:\\x',
    '..x\\y..',
    'ä',
    '.\u00a0',
  ]) {
    it(`leaves ${JSON.stringify(name)} as it is`, () => {
      expect(encodeName(name)).to.equal(name)
    })
  }

  for (const [name, encoded] of [
    ['. ', '\u0001/-\u001f'],
    [' ..', '\u0001/\u001f--'],
    ['..\\x', '\u0001/--\\x'],
    ['a\\.', '\u0001/a\\-'],
    ['a.b\\ .. \\c-', '\u0001/a-b\\\u001f--\u001f\\c,'],
    ['\\.', '\u0001/\\-'],
  ] as const) {
    it(`moves the dots of ${JSON.stringify(name)} out of the way`, () => {
      expect(encodeName(name)).to.equal(encoded)
    })
  }

  it('makes no longer segments, and none that is a dot or two between spaces', () => {
    fc.assert(
      fc.property(names, (name) => {
        const segments = encodeName(name).split(/[/\\]/)
        expect(segments.map((segment) => segment.replace(/^ +| +$/g, ''))).not.to.include.oneOf([
          '.',
          '..',
        ])
        expect(Buffer.byteLength(encodeName(name).replace('\u0001/', ''))).to.equal(
          Buffer.byteLength(name),
        )
      }),
    )
  })

  it('is undone by exactly one encoding', () => {
    fc.assert(
      fc.property(names, (name) => {
        const encoded = encodeName(name)
        const found = nameEncodings.flatMap(({ folder, decode }) =>
          encoded.startsWith(folder) ? [decode(encoded.slice(folder.length))] : [],
        )
        expect(found.filter((each) => each !== undefined)).to.deep.equal([name])
      }),
    )
  })

  it('keeps the order of names within each encoding', () => {
    for (const { folder } of nameEncodings) {
      const inFolder = (name: string) => encodeName(name).startsWith('\u0001/') === (folder !== '')
      fc.assert(
        fc.property(names.filter(inFolder), names.filter(inFolder), (a, b) => {
          const order = Math.sign(compareUtf8(encodeName(a), encodeName(b)))
          expect(order).to.equal(Math.sign(compareUtf8(a, b)))
        }),
      )
    }
  })

  for (const name of ['', '.', '..', 'a/b', 'a\u0001', 'a\ud800']) {
    it(`throws for ${JSON.stringify(name)}, which is no name`, () => {
      expect(() => encodeName(name)).to.throw(TypeError)
    })
  }
})
