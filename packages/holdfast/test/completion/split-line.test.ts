import { expect } from 'chai'
import { splitLine } from '../../src/completion/answer-shell.ts'

describe('splitLine', () => {
  const lines: readonly (readonly [string, readonly string[], boolean])[] = [
    ['', [''], false],
    ['holdfast', ['holdfast'], false],
    ['holdfast ', ['holdfast', ''], false],
    ['holdfast  get\ta', ['holdfast', 'get', 'a'], false],
    ['get a\\ b', ['get', 'a b'], false],
    ['get a\\\\b', ['get', 'a\\b'], false],
    ["get 'a b'", ['get', 'a b'], false],
    ["get 'a b", ['get', 'a b'], true],
    ['get "a \\"b\\" $c\\x"', ['get', 'a "b" $c\\x'], false],
    ['get "a b', ['get', 'a b'], true],
    ['get "a\\', ['get', 'a'], true],
    ['get a\'b \'c" d"e', ['get', 'ab c de'], false],
    ["get ''", ['get', ''], false],
    ['get a:b=c@d', ['get', 'a:b=c@d'], false],
    ['get a\\', ['get', 'a'], false],
    ['get $(x) *', ['get', '$(x)', '*'], false],
  ]
  for (const [line, values, isQuoted] of lines) {
    it(`reads ${JSON.stringify(line)}`, () => {
      const split = splitLine(line)
      expect(split.words.map(({ value }) => value)).to.deep.equal(values)
      expect(split.isQuoted).to.equal(isQuoted)
    })
  }

  it('keeps the words as they were typed', () => {
    const { words } = splitLine(`get a\\ b "c d"e`)
    expect(words.map(({ raw }) => raw)).to.deep.equal(['get', 'a\\ b', '"c d"e'])
  })
})
