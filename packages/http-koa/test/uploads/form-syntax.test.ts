import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect } from 'chai'
import {
  checkFormType,
  readFormDisposition,
  partFileName,
  expectedSha256,
  undoFormEscapes,
} from '../../src/uploads/form-syntax.ts'

function requestOf(headers: Readonly<Record<string, string>>): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  request.headers = { ...headers }
  return request
}

const check = (type: string) =>
  checkFormType(requestOf({ 'content-type': type, 'content-length': '10' }))

describe('checkFormType', () => {
  for (const [parameters, boundary] of [
    ['; boundary=x', 'x'],
    [';boundary=x', 'x'],
    ['; Boundary=x', 'x'],
    [' ; boundary="x y"', '"x y"'],
    ['; boundary="x"', 'x'],
    ['; boundary="----=_x"', '"----=_x"'],
    ['; boundary="a\\"\\b\\\\"', '"a\\"b\\\\"'],
    ['; charset=utf-8; boundary=x', 'x'],
    ['; charset="a;boundary=y"; boundary=x', 'x'],
    ['; boundary=x;', 'x'],
    ['; boundary=x ; ', 'x'],
    ['; boundary=x\t;;', 'x'],
    ['; ;; boundary="x y";', '"x y"'],
    ['; boundary=x; boundary=y', 'x'],
    [`; boundary=${'x'.repeat(70)}`, 'x'.repeat(70)],
  ] as const) {
    it(`reads the boundary in Multipart/Form-Data${parameters.slice(0, 40)}`, () => {
      const headers = { 'content-type': `Multipart/Form-Data${parameters}`, 'content-length': '10' }
      const request = requestOf(headers)
      checkFormType(request)
      const written = `multipart/form-data; boundary=${boundary}`
      expect(request.headers['content-type']).to.equal(written)
      checkFormType(request)
      expect(request.headers['content-type'], 'again').to.equal(written)
    })
  }

  for (const value of ['----=_Part_1', 'a/b', 'a b', '"x', 'x"y"', '"x"y']) {
    it(`says that ${value} must be in quotes`, () => {
      expect(() => check(`multipart/form-data; boundary=${value}`))
        .to.throw(/^Malformed multipart body/)
        .with.property('status', 400)
      if (value === '"x"y') return
      expect(() => check(`multipart/form-data; boundary=${value}; x=y`)).to.throw('in quotes')
    })
  }

  for (const type of [
    '',
    'text/plain',
    'multipart/mixed; boundary=x',
    'multipart/form-datax; boundary=x',
    'xmultipart/form-data; boundary=x',
  ]) {
    it(`sees no file in ${JSON.stringify(type)}`, () => {
      expect(() => check(type))
        .to.throw('No file')
        .with.property('status', 400)
    })
  }

  for (const type of [
    'multipart/form-data',
    'multipart/form-data;',
    'multipart/form-data; boundary',
    'multipart/form-data; boundary=',
    'multipart/form-data; boundary=""',
    'multipart/form-data; xboundary=x',
    'multipart/form-data; x; boundary=x',
    'multipart/form-data; x=; boundary=x',
    'multipart/form-data; =y; boundary=x',
    'multipart/form-data; x=y z; boundary=x',
    'multipart/form-data; boundary="x" y=z',
    `multipart/form-data; boundary=${'x'.repeat(71)}`,
    `multipart/form-data; boundary="${'x'.repeat(71)}"`,
  ]) {
    it(`sees a malformed body behind ${type.slice(0, 50)}`, () => {
      expect(() => check(type))
        .to.throw('Malformed multipart body')
        .with.property('status', 400)
    })
  }

  it('sees no file where there is no body', () => {
    const type = { 'content-type': 'multipart/form-data; boundary=x' }
    expect(() => checkFormType(requestOf(type))).to.throw('No file')
    expect(() => checkFormType(requestOf({ ...type, 'content-length': '0' }))).to.throw('No file')
    checkFormType(requestOf({ ...type, 'transfer-encoding': 'chunked' }))
  })
})

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

const names: Readonly<Record<string, string>> = {
  'a.txt': 'a.txt',
  'dir/a.txt': 'a.txt',
  '/etc/passwd': 'passwd',
  '../../a': 'a',
  'a/': '',
  '..': '..',
  '': '',
  'C:\\dir\\a.txt': 'C:\\dir\\a.txt',
  ' a ': ' a ',
  '%2Fa': '%2Fa',
  '\ufffd/a': 'a',
}

describe('partFileName', () => {
  for (const [filename, name] of Object.entries(names)) {
    it(`takes ${JSON.stringify(name)} from ${JSON.stringify(filename)}`, () => {
      expect(partFileName(filename)).to.equal(name)
    })
  }
  it('refuses what was not UTF-8', () => {
    expect(() => partFileName('dir/a\ufffd'))
      .to.throw('Invalid filename: it is not valid UTF-8, or contains a control character')
      .with.property('status', 400)
  })
})

const digest = 'ab'.repeat(32)
const invalid = ['', 'abc', `${digest}0`, ` ${digest}`, `${digest}\n`, 'g'.repeat(64)]

describe('expectedSha256', () => {
  it('is undefined without the field', () => {
    expect(expectedSha256([])).to.equal(undefined)
  })
  it('is in lower case', () => {
    expect(expectedSha256([digest.toUpperCase()])).to.equal(digest)
  })
  for (const fields of [...invalid.map((value) => [value]), [digest, digest]]) {
    it(`refuses ${JSON.stringify(fields).slice(0, 20)}`, () => {
      expect(() => expectedSha256(fields))
        .to.throw('Invalid sha256: it must be sent once, as 64 hexadecimal digits')
        .with.property('status', 400)
    })
  }
})

describe('undoFormEscapes', () => {
  it('undoes the three escapes of browsers', () => {
    expect(undoFormEscapes('%22a%22%0D%0Ab%0d%0a')).to.equal('"a"\r\nb\r\n')
  })
  it('leaves everything else as it is, and undoes once', () => {
    expect(undoFormEscapes('100% %41 %2522 %00 %2F %')).to.equal('100% %41 %2522 %00 %2F %')
  })
  it('undoes what FormData does', async () => {
    const form = new FormData()
    form.append('file', new Blob(['x']), 'say "hi"\r\n100%.txt')
    const body = await new Response(form).text()
    const [, filename = ''] = /filename="([^"]*)"/.exec(body) ?? []
    expect(undoFormEscapes(filename)).to.equal('say "hi"\r\n100%.txt')
  })
})
