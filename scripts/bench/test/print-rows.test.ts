import { expect } from 'chai'
import { ratioOf, tableOf, written } from '../report/print-rows.ts'
import { row } from './result-fixtures.ts'

describe('ratioOf', () => {
  const rows = [
    row('holdfast', '/ping', { perSecond: 1000, seconds: 1 }),
    row('holdfast', 'form', { perSecond: 200, seconds: 5 }),
    row('holdfast', 'PUT', { perSecond: 300, seconds: 4 }),
    row('nginx', 'PUT', { perSecond: 600, seconds: 2 }),
    row('other', 'something else', { perSecond: 100, seconds: 10 }),
  ]

  it('says how much better holdfast is at the same work: by rates more, by times less is better', () => {
    expect(ratioOf(rows, rows[3]!, 'perSecond')?.median).to.equal(0.5)
    expect(ratioOf(rows, rows[3]!, 'seconds')?.median).to.equal(0.5)
  })

  it('takes the first work that is no ping where holdfast has no such work', () => {
    expect(ratioOf(rows, rows[4]!, 'perSecond')?.median).to.equal(2)
  })

  it('is nothing for the row itself, and where a figure is missing', () => {
    expect(ratioOf(rows, rows[2]!, 'perSecond')?.median).to.equal(undefined)
    expect(ratioOf(rows, rows[3]!, 'growthMiB')?.median).to.equal(undefined)
    expect(ratioOf(rows.slice(3), rows[3]!, 'perSecond')?.median).to.equal(undefined)
  })
})

describe('tableOf', () => {
  it('has a column for each figure that any row has, and one for the ratio', () => {
    const rows = [
      row('holdfast', 'GET', { perSecond: 12_345.6, peakMiB: 80 }),
      row('nginx', 'GET', { perSecond: 61_728 }),
    ]
    expect(tableOf(rows, 'perSecond')).to.deep.equal([
      ['server', 'work', 'per second', 'peak RSS, MiB', 'holdfast is'],
      ['holdfast', 'GET', '12 346', '80.0', ''],
      ['nginx', 'GET', '61 728', '', '0.200 ×'],
    ])
  })
})

describe('written', () => {
  it('has three digits, or as many as stand before the point', () => {
    expect([0.1234, 1.234, 12.34, 123.4, 1234.5, 1_234_567].map(written)).to.deep.equal([
      '0.123',
      '1.23',
      '12.3',
      '123',
      '1 235',
      '1 234 567',
    ])
  })
})
