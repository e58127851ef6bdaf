import { expect } from 'chai'
import { resolveRange, type RangeRequest } from '../../src/ports/blob.ts'

type Row = readonly [
  request: RangeRequest | undefined,
  size: number,
  offset?: number,
  length?: number,
]

const rows: readonly Row[] = [
  [undefined, 0, 0, 0],
  [undefined, 10, 0, 10],
  [{ first: 0 }, 10, 0, 10],
  [{ first: 0, last: 0 }, 10, 0, 1],
  [{ first: 0, last: 9 }, 10, 0, 10],
  [{ first: 0, last: 10 }, 10, 0, 10],
  [{ first: 3, last: 6 }, 10, 3, 4],
  [{ first: 3 }, 10, 3, 7],
  [{ first: 9 }, 10, 9, 1],
  [{ first: 9, last: 9 }, 10, 9, 1],
  [{ first: 9, last: Number.MAX_SAFE_INTEGER }, 10, 9, 1],
  [{ first: 10 }, 10],
  [{ first: 10, last: 20 }, 10],
  [{ first: 6, last: 3 }, 10],
  [{ first: 0 }, 0],
  [{ first: 0, last: 0 }, 0],
  [{ first: 0, last: 0 }, 1, 0, 1],
  [{ suffixLength: 1 }, 10, 9, 1],
  [{ suffixLength: 9 }, 10, 1, 9],
  [{ suffixLength: 10 }, 10, 0, 10],
  [{ suffixLength: 11 }, 10, 0, 10],
  [{ suffixLength: 0 }, 10],
  [{ suffixLength: 5 }, 0],
  [{ suffixLength: 0 }, 0],
  [{ first: 2 ** 40, last: 2 ** 40 + 9 }, 2 ** 41, 2 ** 40, 10],
]

describe('resolveRange', () => {
  for (const [request, size, offset, length] of rows) {
    const expected = offset === undefined ? undefined : { offset, length }
    const outcome = expected ? `bytes ${offset} and on, ${length} of them` : 'nothing'
    it(`selects ${outcome} from ${size} bytes by ${JSON.stringify(request ?? null)}`, () => {
      expect(resolveRange(request, size)).to.deep.equal(expected)
    })
  }

  it('selects what slicing selects, for every small request', () => {
    const bytes = Array.from({ length: 7 }, (_, n) => String(n))
    for (let size = 0; size <= 7; size++) {
      for (let first = 0; first <= 8; first++) {
        for (let last = first; last <= 8; last++) {
          const wanted = bytes.slice(0, size).slice(first, last + 1)
          expect(selected(bytes, resolveRange({ first, last }, size))).to.deep.equal(wanted)
        }
        const wanted = first === 0 ? [] : bytes.slice(0, size).slice(-first)
        expect(selected(bytes, resolveRange({ suffixLength: first }, size))).to.deep.equal(wanted)
      }
    }
  })
})

function selected(bytes: readonly string[], range: ReturnType<typeof resolveRange>) {
  return range ? bytes.slice(range.offset, range.offset + range.length) : []
}
