import { nastyNames } from '@holdfast/contract'
import { compareUtf8 } from '@holdfast/core'
import { expect } from 'chai'
import fc from 'fast-check'
import { createNameSorter, memoryOf, pageOf, toBlocks } from '../../src/list/sorted-names.ts'

/**
 * Of few letters, so that names have beginnings in common. U+FF5E is behind U+1F600 in UTF-16, and before it in UTF-8; U+1F600 and U+1F601
 * have the same first half in UTF-16.
 */
const letters = ['a', '\u00e9', '\uff5e', '\u{1f600}', '\u{1f601}'] as const
const names = fc.uniqueArray(
  fc.oneof(
    fc.string({ unit: fc.constantFrom(...letters), maxLength: 6 }),
    fc.constantFrom(...nastyNames),
  ),
  { maxLength: 60 },
)

/** The names on all pages, none of which is empty. */
function flat(pages: Iterator<readonly string[]>): string[] {
  const all: string[] = []
  for (let page = pages.next(); !page.done; page = pages.next()) {
    expect(page.value).to.have.length.within(1, 1024)
    all.push(...page.value)
  }
  return all
}

function sort(all: readonly string[], limit: number, runLength?: number): string[] {
  const sorter = createNameSorter({ limit, ...(runLength !== undefined && { runLength }) })
  for (const name of all) sorter.add(name)
  return flat(sorter.pages())
}

describe('createNameSorter', () => {
  it('gives all names in the order of their UTF-8 bytes, however long its runs are', () => {
    fc.assert(
      fc.property(names, fc.integer({ min: 1, max: 70 }), (all, runLength) => {
        expect(sort(all, Infinity, runLength)).to.deep.equal([...all].sort(compareUtf8))
      }),
    )
  })

  it('gives the first names, however many are asked for', () => {
    const lengths = fc.integer({ min: 1, max: 30 })
    fc.assert(
      fc.property(names, lengths, lengths, (all, limit, runLength) => {
        const expected = [...all].sort(compareUtf8).slice(0, limit)
        expect(sort(all, limit, runLength)).to.deep.equal(expected)
      }),
      { numRuns: 1000 },
    )
  })

  it('gives each name once, however often it was added, and no fewer than asked for', () => {
    const small = fc.integer({ min: 1, max: 30 })
    fc.assert(
      fc.property(names, fc.integer({ min: 1, max: 4 }), small, small, (all, times, ...sizes) => {
        const often = Array.from({ length: times }, () => all).flat()
        const [limit, runLength] = sizes
        const expected = [...all].sort(compareUtf8).slice(0, limit)
        expect(sort(often, limit, runLength)).to.deep.equal(expected)
      }),
    )
  })

  it('gives nothing when there is nothing', () => {
    expect(sort([], Infinity)).to.deep.equal([])
    expect(sort([], 1)).to.deep.equal([])
  })

  it('sorts more names than a run of its own choosing', () => {
    const all = Array.from({ length: 20_000 }, (_, index) => String((index * 7919) % 20_000))
    expect(sort(all, Infinity)).to.deep.equal([...all].sort(compareUtf8))
    expect(sort(all, 6000)).to.deep.equal([...all].sort(compareUtf8).slice(0, 6000))
  })

  it('drops the last names where it may not hold all, and says so', () => {
    const sizes = fc.integer({ min: 1, max: 12 })
    fc.assert(
      fc.property(names, sizes, sizes, (all, runLength, most) => {
        let held = 0
        const grow = (bytes: number) => (held += bytes) <= most * 300
        const sorter = createNameSorter({ limit: Infinity, runLength, grow })
        for (const name of all) sorter.add(name)
        const found = flat(sorter.pages())
        const expected = [...all].sort(compareUtf8)
        expect(found).to.deep.equal(expected.slice(0, found.length))
        if (!sorter.isCut()) expect(found).to.have.length(expected.length)
        if (all.length > 0) expect(found).not.to.have.length(0)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('toBlocks', () => {
  const all = { prefix: '', after: '' }
  const pages = (sorted: readonly string[]) =>
    pageOf({ ...all, blocks: toBlocks(sorted), isCut: false }, { ...all, limit: 1_000 })

  it('keeps every name', () => {
    fc.assert(
      fc.property(names, (some) => {
        const sorted = some.filter((name) => name !== '').sort(compareUtf8)
        expect(pages(sorted)).to.deep.equal({ names: sorted, isComplete: true })
      }),
      { numRuns: 1000 },
    )
    for (const sorted of [['a'], ['a', 'ab'], ['\u{1f600}', '\u{1f601}'], ['$&', '$&$1']]) {
      expect(pages(sorted)?.names).to.deep.equal(sorted)
    }
  })

  it('stores the beginning that many names share only once', () => {
    const sorted = Array.from({ length: 100_000 }, (_, n) => `report of ${100_000 + n}.txt`)
    expect(memoryOf(toBlocks(sorted))).to.be.lessThan((sorted.join('\n').length * 3) / 5)
  })
})
