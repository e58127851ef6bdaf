import { expect } from 'chai'
import { etagOf, evaluatePreconditions, ifRangeHolds } from '../../src/http/conditional.ts'

const info = {
  name: 'a.txt',
  size: 4,
  modifiedAt: new Date('2024-05-06T07:08:09.500Z'),
  etag: 'tag',
}
const before = 'Mon, 06 May 2024 07:08:08 GMT'
const same = 'Mon, 06 May 2024 07:08:09 GMT'
const later = 'Mon, 06 May 2024 07:08:10 GMT'

type Verdict = 'proceed' | 'not-modified' | 'failed'
type Fields = Readonly<Record<string, string>>
const verdicts: readonly (readonly [fields: Fields, verdict: Verdict])[] = [
  [{}, 'proceed'],
  [{ 'if-match': '"tag"' }, 'proceed'],
  [{ 'if-match': '*' }, 'proceed'],
  [{ 'if-match': ' * ' }, 'proceed'],
  [{ 'if-match': '"a", "tag", "b"' }, 'proceed'],
  [{ 'if-match': '"a","tag"' }, 'proceed'],
  [{ 'if-match': '"a, b", "tag"' }, 'proceed'],
  [{ 'if-match': '"other"' }, 'failed'],
  [{ 'if-match': 'W/"tag"' }, 'failed'],
  [{ 'if-match': 'w/"tag"' }, 'failed'],
  [{ 'if-match': 'tag' }, 'failed'],
  [{ 'if-match': '"tag' }, 'failed'],
  [{ 'if-match': '"TAG"' }, 'failed'],
  [{ 'if-match': '' }, 'failed'],
  [{ 'if-none-match': '"tag"' }, 'not-modified'],
  [{ 'if-none-match': 'W/"tag"' }, 'not-modified'],
  [{ 'if-none-match': '*' }, 'not-modified'],
  [{ 'if-none-match': 'W/"a", W/"tag"' }, 'not-modified'],
  [{ 'if-none-match': '"other"' }, 'proceed'],
  [{ 'if-none-match': 'tag' }, 'proceed'],
  [{ 'if-none-match': '' }, 'proceed'],
  [{ 'if-unmodified-since': before }, 'failed'],
  [{ 'if-unmodified-since': same }, 'proceed'],
  [{ 'if-unmodified-since': later }, 'proceed'],
  [{ 'if-unmodified-since': 'yesterday' }, 'proceed'],
  [{ 'if-unmodified-since': '2001-01-01' }, 'proceed'],
  [{ 'if-modified-since': before }, 'proceed'],
  [{ 'if-modified-since': same }, 'not-modified'],
  [{ 'if-modified-since': later }, 'not-modified'],
  [{ 'if-modified-since': 'Monday, 06-May-24 07:08:09 GMT' }, 'not-modified'],
  [{ 'if-modified-since': 'Mon May  6 07:08:09 2024' }, 'not-modified'],
  [{ 'if-modified-since': 'Mon May  6 07:08:08 2024' }, 'proceed'],
  [{ 'if-modified-since': '' }, 'proceed'],
  [{ 'if-modified-since': '2999-01-01' }, 'proceed'],
  [{ 'if-modified-since': '2999' }, 'proceed'],
  [{ 'if-modified-since': 'Mon, 06 May 2999 07:08:09 +0000' }, 'proceed'],
  [{ 'if-modified-since': 'Mon, 06 May 2024 25:08:09 GMT' }, 'proceed'],
  // RFC 9110 §13.2.2: tags win over dates, If-Match comes before If-None-Match.
  [{ 'if-match': '"tag"', 'if-unmodified-since': before }, 'proceed'],
  [{ 'if-match': '"other"', 'if-unmodified-since': later }, 'failed'],
  [{ 'if-none-match': '"other"', 'if-modified-since': later }, 'proceed'],
  [{ 'if-none-match': '"tag"', 'if-modified-since': before }, 'not-modified'],
  [{ 'if-match': '"tag"', 'if-none-match': '"tag"' }, 'not-modified'],
  [{ 'if-match': '"other"', 'if-none-match': '"tag"' }, 'failed'],
  [{ 'if-unmodified-since': before, 'if-none-match': '"tag"' }, 'failed'],
  [{ 'if-unmodified-since': later, 'if-modified-since': later }, 'not-modified'],
]

describe('evaluatePreconditions', () => {
  for (const [fields, verdict] of verdicts) {
    it(`says ${verdict} to ${JSON.stringify(fields)}`, () => {
      expect(evaluatePreconditions(fields, info)).to.equal(verdict)
    })
  }
})

const ranges: readonly (readonly [ifRange: string, holds: boolean])[] = [
  ['"tag"', true],
  ['"other"', false],
  ['W/"tag"', false],
  ['*', false],
  ['', false],
  [same, true],
  [before, false],
  [later, false],
  ['2024-05-06T07:08:09Z', false],
]

describe('ifRangeHolds', () => {
  it('is true without If-Range', () => {
    expect(ifRangeHolds({}, info)).to.equal(true)
  })
  for (const [ifRange, holds] of ranges) {
    it(`is ${holds} for ${ifRange}`, () => {
      expect(ifRangeHolds({ 'if-range': ifRange }, info)).to.equal(holds)
    })
  }
})

describe('etagOf', () => {
  it('is a strong entity tag', () => {
    expect(etagOf(info)).to.equal('"tag"')
  })
})
