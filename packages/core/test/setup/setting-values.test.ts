import { expect } from 'chai'
import { parseByteSize } from '../../src/setup/setting-values.ts'

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
