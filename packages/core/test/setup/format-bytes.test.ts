import { expect } from 'chai'
import { formatBytes } from '../../src/setup/setting-values.ts'

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
