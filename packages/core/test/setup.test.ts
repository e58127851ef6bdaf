import { expect } from 'chai'
import {
  advice,
  adviceOf,
  adviceText,
  asSentence,
  carriesAdvice,
  rangeErrorOf,
  SetupError,
  parseByteSize,
  parseKeepReplaced,
  formatBytes,
  closestWord,
  isLoopbackHost,
  messageOf,
} from '../src/setup.ts'

describe('adviceText', () => {
  for (const [said, text] of [
    [advice('f.yaml: it is wrong'), 'f.yaml: it is wrong'],
    [advice('f.yaml: it is wrong', 'change it'), 'f.yaml: it is wrong; change it'],
    [advice('It is late', 'Wait', 'or go.'), 'It is late. Wait; or go.'],
    [advice('a; b. C is missing', 'make it'), 'a; b. C is missing; make it'],
    [advice('It cannot be used:', 'change it.'), 'It cannot be used: change it.'],
    [advice('It needs:', '--one', '--two'), 'It needs:\n  --one\n  --two'],
    [advice('It needs:', 'ONE'), 'It needs:\n  ONE'],
  ] as const) {
    it(`says ${JSON.stringify(text)}`, () => {
      expect(adviceText(said)).to.equal(text)
    })
  }
})

describe('messageOf', () => {
  it('is the message of an error, and any other value as text', () => {
    expect(messageOf(new RangeError('It is wrong'))).to.equal('It is wrong')
    for (const value of ['It is wrong', 7, undefined]) {
      expect(messageOf(value)).to.equal(String(value))
    }
  })
})

describe('adviceOf', () => {
  const said = advice('It is wrong', 'change it')

  it('is what an error carries', () => {
    for (const error of [new SetupError('It is wrong', ['change it']), rangeErrorOf(said)]) {
      expect(adviceOf(error)).to.deep.equal(said)
      expect(carriesAdvice(error)).to.equal(true)
    }
  })

  it('takes the shape for it, since the class may come from another copy of the package', () => {
    const error = Object.assign(new Error('It is wrong; change it'), said)
    expect(adviceOf(error)).to.deep.equal(said)
  })

  it('is the message of any other error, without remedies', () => {
    for (const error of [new Error('It is wrong; so'), 'It is wrong; so']) {
      expect(adviceOf(error)).to.deep.equal(advice('It is wrong; so'))
      expect(carriesAdvice(error)).to.equal(false)
    }
    const halves = [
      { problem: 'It' },
      { problem: 1, remedies: [] },
      { problem: 'It', remedies: '' },
    ]
    for (const half of halves) {
      expect(carriesAdvice(Object.assign(new Error('It'), half))).to.equal(false)
    }
  })
})

describe('rangeErrorOf', () => {
  it('is a RangeError whose message has the remedy, too', () => {
    const error = rangeErrorOf(advice('is no port', 'write a number'))
    expect(error).to.be.instanceOf(RangeError)
    expect(error.message).to.equal('is no port; write a number')
  })
})

describe('asSentence', () => {
  it('ends with a full stop, which the last remedy has if there is one', () => {
    expect(adviceText(asSentence(advice('It is wrong')))).to.equal('It is wrong.')
    expect(adviceText(asSentence(advice('It is wrong', 'a', 'b')))).to.equal('It is wrong; a; b.')
  })

  it('adds nothing to what has an end', () => {
    expect(adviceText(asSentence(advice('It is', 'is it?')))).to.equal('It is; is it?')
    expect(adviceText(asSentence(advice('It is.')))).to.equal('It is.')
  })
})

describe('SetupError', () => {
  it('has problem, remedies and cause, and both words in its message', () => {
    const cause = new Error('EACCES')
    const error = new SetupError('The file cannot be read', ['give it to that user.'], cause)
    expect(error.message).to.equal('The file cannot be read; give it to that user.')
    expect(error.name).to.equal('SetupError')
    expect(error.problem).to.equal('The file cannot be read')
    expect(error.remedies).to.deep.equal(['give it to that user.'])
    expect(error.cause).to.equal(cause)
  })

  it('needs neither remedies nor cause', () => {
    const error = new SetupError('The disk is full.')
    expect(error.message).to.equal('The disk is full.')
    expect(error.remedies).to.deep.equal([])
    expect(error).not.to.have.property('cause')
  })
})

describe('parseByteSize', () => {
  const sizes: readonly (readonly [string, number])[] = [
    ['0', 0],
    ['1048576', 1_048_576],
    ['7B', 7],
    ['1kB', 1_000],
    ['1 kb', 1_000],
    ['50GB', 50_000_000_000],
    ['10 MiB', 10_485_760],
    ['10mib', 10_485_760],
    ['1.5 GiB', 1_610_612_736],
    ['0.5KiB', 512],
    ['2TB', 2_000_000_000_000],
    ['1TiB', 1_099_511_627_776],
    ['1.0001kB', 1_000],
    ['  3 MB ', 3_000_000],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ]
  for (const [text, bytes] of sizes) {
    it(`reads ${JSON.stringify(text)} as ${bytes}`, () => {
      expect(parseByteSize(text)).to.equal(bytes)
    })
  }

  const refused = [
    '',
    ' ',
    'GB',
    '-1',
    '+1',
    '1e9',
    '1.GB',
    '.5GB',
    '1,5GB',
    '10M',
    '10K',
    '1G',
    '5 apples',
  ]
  const odd = ['0x10', 'NaN', 'Infinity', '1 2', '1GBB', '١GB', '1\n2', '9'.repeat(400)]
  for (const text of [...refused, ...odd]) {
    it(`refuses ${JSON.stringify(text.slice(0, 20))} with an example of a size`, () => {
      expect(() => parseByteSize(text)).to.throw(RangeError, 'is not a size; write bytes as in')
    })
  }

  for (const text of ['9007199254740992', '9000000TB', '99999999999999999999TiB']) {
    it(`refuses ${text}, which is beyond exact counting`, () => {
      expect(() => parseByteSize(text)).to.throw(RangeError, 'larger')
    })
  }
})

describe('formatBytes', () => {
  const cases: readonly (readonly [number, string])[] = [
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.00 kB'],
    [9994, '9.99 kB'],
    [9996, '10.0 kB'],
    [99_949, '99.9 kB'],
    [99_951, '100 kB'],
    [999_499, '999 kB'],
    [999_501, '1.00 MB'],
    [2 * 1024 ** 3, '2.15 GB'],
    [5e15, '5.00 PB'],
    [5e19, '50000 PB'],
  ]
  for (const [bytes, text] of cases) {
    it(`writes ${bytes} as ${text}`, () => expect(formatBytes(bytes)).to.equal(text))
  }
})

describe('closestWord', () => {
  const flags = ['port', 'host', 'max-file-size', 'max-requests']

  for (const [word, meant] of [
    ['PORT', 'port'],
    ['prot', 'port'],
    ['hots', 'host'],
    ['max-filesize', 'max-file-size'],
    ['max-request', 'max-requests'],
  ] as const) {
    it(`is ${meant} for ${word}`, () => {
      expect(closestWord(word, flags)).to.equal(meant)
    })
  }

  for (const word of ['', 'p', 'quota', 'max-files']) {
    it(`is none for "${word}", which is more than two edits from every word`, () => {
      expect(closestWord(word, flags)).to.equal(undefined)
    })
  }

  it('is the first of those that are equally close', () => {
    expect(closestWord('ba', ['bat', 'bar'])).to.equal('bat')
  })

  it('is no word of which nothing is left', () => {
    expect(closestWord('x', ['a'])).to.equal(undefined)
  })

  it('is at most one edit from a short word', () => {
    expect(closestWord('foo', ['from'])).to.equal(undefined)
    expect(closestWord('mv', ['rm', 'ls'])).to.equal(undefined)
    expect(closestWord('gte', ['get'])).to.equal(undefined)
    expect(closestWord('gt', ['get'])).to.equal('get')
  })
})

describe('isLoopbackHost', () => {
  const own = [
    'localhost',
    'LOCALHOST',
    'a.localhost',
    '127.0.0.1',
    '127.255.0.7',
    '127.1',
    '[::1]',
  ]
  const others = [
    '127.evil.example.com',
    '127.0.0.1.example.com',
    'localhost.example.com',
    'notlocalhost',
    '128.0.0.1',
    '0.0.0.0',
    '10.127.0.0',
    '[::2]',
    '[::ffff:10.0.0.1]',
  ]
  for (const host of own) {
    it(`holds for ${host}`, () =>
      expect(isLoopbackHost(new URL(`http://${host}/`).hostname)).to.equal(true))
  }
  for (const host of others) {
    it(`does not hold for ${host}`, () =>
      expect(isLoopbackHost(new URL(`http://${host}/`).hostname)).to.equal(false))
  }
})

describe('parseKeepReplaced', () => {
  for (const [text, ms] of [
    ['off', 0],
    ['1m', 60_000],
    ['36h', 129_600_000],
    ['30 d', 2_592_000_000],
    ['36500d', 3_153_600_000_000],
  ] as const) {
    it(`reads ${text}`, () => expect(parseKeepReplaced(text)).to.equal(ms))
  }

  for (const text of ['', '0', '30', '59s', '0.5m', '36501d', 'OFF', '-1d', '1d 2h']) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(() => parseKeepReplaced(text)).to.throw(
        RangeError,
        'is not a time between 1m and 36500d; write it as in 30d or 12h, or off',
      )
    })
  }
})
