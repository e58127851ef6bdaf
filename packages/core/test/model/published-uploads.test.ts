import { expect } from 'chai'
import {
  createPublishedUploads,
  mostPublished,
  type PublishedUploads,
} from '../../src/model/upload-rules.ts'

/** Adds an upload that was published at `moment`. */
function add(
  uploads: PublishedUploads,
  moment: number,
  { link, customer = 'anna', id = `${customer}-${link}-${moment}` }: Added = {},
): string[] {
  return uploads.add(customer, { id, link, changedAt: moment })
}

interface Added {
  readonly link?: string
  readonly customer?: string
  readonly id?: string
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

describe('createPublishedUploads', () => {
  it('knows what was added, and nothing else', () => {
    const uploads = createPublishedUploads()
    expect(add(uploads, 1, { id: 'one' })).to.deep.equal([])
    expect(uploads.has('one')).to.equal(true)
    expect(uploads.has('two')).to.equal(false)
  })

  for (const [what, most, link] of [
    ["the customer's own", mostPublished.own, undefined],
    ['a link', mostPublished.byLink, 'l'],
  ] as const) {
    it(`names the oldest of ${what}, whatever their order, and counts none twice`, () => {
      const uploads = createPublishedUploads()
      const by = link === undefined ? {} : { link }
      for (const moment of numbers(most).toReversed()) {
        expect(add(uploads, moment, by)).to.deep.equal([])
        expect(add(uploads, moment, by)).to.deep.equal([])
      }
      for (const moment of numbers(3)) {
        const gone = `anna-${link}-${moment}`
        expect(add(uploads, most + moment, by)).to.deep.equal([gone])
        expect(uploads.has(gone)).to.equal(false)
      }
    })
  }

  it('names the oldest of all links if there are too many, and none of the customer', () => {
    const uploads = createPublishedUploads()
    add(uploads, 0)
    const links = mostPublished.byLinks / mostPublished.byLink
    for (const index of numbers(links)) {
      for (const moment of numbers(mostPublished.byLink)) {
        expect(add(uploads, 1000 - index + moment, { link: `l${index}` })).to.deep.equal([])
      }
    }
    const oldest = `anna-l${links - 1}-${1000 - links + 1}`
    expect(add(uploads, 5000, { link: 'other' })).to.deep.equal([oldest])
  })

  it('counts customers apart', () => {
    const uploads = createPublishedUploads()
    for (const moment of numbers(mostPublished.own)) add(uploads, moment)
    expect(add(uploads, 5000, { customer: 'bert' })).to.deep.equal([])
  })

  it('does not know of more than its limit, without those met longest ago', () => {
    const uploads = createPublishedUploads(20)
    for (const moment of numbers(10)) add(uploads, moment)
    for (const moment of numbers(10)) add(uploads, moment, { customer: 'bert' })
    add(uploads, 10)
    expect(add(uploads, 0, { customer: 'carl' })).to.deep.equal([])
    expect(uploads.has('bert-undefined-0')).to.equal(false)
    expect(uploads.has('anna-undefined-0')).to.equal(true)
    expect(uploads.has('carl-undefined-0')).to.equal(true)
  })
})
