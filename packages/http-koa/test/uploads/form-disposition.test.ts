import { expect } from 'chai'
import { readFormDisposition } from '../../src/uploads/form-syntax.ts'

const read = (filename: string) =>
  readFormDisposition([`form-data; name="file"; ${filename}`])?.filename

describe('readFormDisposition', () => {
  // Which clients write what is in docs/api.md.
  const names: readonly (readonly [filename: string, name: string | undefined])[] = [
    [String.raw`"a\b"`, String.raw`a\b`],
    [String.raw`"a\\b"`, String.raw`a\b`],
    [String.raw`"a\\\\b"`, String.raw`a\\b`],
    [String.raw`"a\\\b"`, String.raw`a\\\b`],
    [String.raw`"C:\dir\x.txt"`, String.raw`C:\dir\x.txt`],
    [String.raw`"C:\\dir\\x.txt"`, String.raw`C:\dir\x.txt`],
    [String.raw`"\\server\dir"`, String.raw`\\server\dir`],
    [String.raw`"a\"`, 'a\\'],
    [String.raw`"a\\"`, 'a\\'],
    [String.raw`"a\\\"`, 'a\\\\\\'],
    [String.raw`"a\" `, 'a\\'],
    [String.raw`"say \"hi\".txt"`, 'say "hi".txt'],
    [String.raw`"b\\s \"q\".txt"`, String.raw`b\s "q".txt`],
    [String.raw`"b\\s %22q%22.txt"`, String.raw`b\s "q".txt`],
    [String.raw`"b\s %22q%22.txt"`, String.raw`b\s "q".txt`],
    [String.raw`"b\s \"q\".txt"`, String.raw`b\s "q".txt`],
    [String.raw`"b\s "q".txt"`, undefined],
    [String.raw`"x\y"; filename*=UTF-8''z%5C%5Cz`, String.raw`z\\z`],
    ['"a%0D%0Ab%0d"', 'a\r\nb\r'],
    ['"100% %41 %2522 %00"', '100% %41 %2522 %00'],
    ['"\xe9"', '\ufffd'],
    ['"plain.txt"', 'plain.txt'],
  ]
  for (const [filename, name] of names) {
    it(`reads ${filename} as ${name}`, () => {
      expect(read(`filename=${filename}`)).to.equal(name)
    })
  }

  it('distinguishes a text field from a file without a name', () => {
    expect(readFormDisposition(['form-data; name="a"'])).to.deep.equal({ name: 'a' })
    expect(readFormDisposition(['form-data; name="a"; filename=""'])).to.deep.equal({
      name: 'a',
      filename: '',
    })
  })

  it('has no reading where a name without quotes seems to begin with a semicolon', () => {
    for (const rest of ['filename=;', 'filename= ; x=y', 'filename=;a.txt']) {
      expect(readFormDisposition([`form-data; name="file"; ${rest}`]), rest).to.equal(undefined)
    }
  })

  it('takes no longer for any header than for another of its length', () => {
    const begin = performance.now()
    for (const filler of [
      '\\',
      '"',
      ' ',
      ';',
      '=',
      ' =',
      '";',
      '%',
      '\\"',
      "'",
      'a',
      'a=a;',
      ' "',
      'a*',
    ]) {
      const text = filler.repeat(16_384 / filler.length)
      for (const header of [`"${text}"`, `"${text}`, text, `x; filename*=${text}`]) {
        read(`filename=${header}`)
      }
    }
    // Steps that go with the square of the length would be minutes.
    expect(performance.now() - begin).to.be.lessThan(10_000)
  })
})
