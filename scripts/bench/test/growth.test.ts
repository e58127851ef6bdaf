import { expect } from 'chai'
import { growthTable } from '../curves/growth-table.ts'
import { renderGrowth } from '../curves/render-growth.ts'

const curves = [
  {
    title: 'Files',
    unit: 'files',
    points: [
      { at: 1, figures: { 'upload, ms': 0.123456, 'grew by, MiB': -2 } },
      { at: 1000, figures: { 'upload, ms': 12.3456, 'grew by, MiB': 4 } },
    ],
  },
]

describe('growthTable', () => {
  it('has a row for each size and a column for each figure, with three digits', () => {
    const table = growthTable('Measured.', curves)
    expect(table).to.include('| Files | upload, ms | grew by, MiB |')
    expect(table).to.include('| 1 | 0.123 | -2 |').and.include('| 1,000 | 12.3 | 4 |')
  })
})

describe('renderGrowth', () => {
  it('draws each figure on logarithmic scales, from corner to corner what grows with the size', () => {
    const even = [1, 10, 100].map((at) => ({ at, figures: { cost: at * 3 } }))
    const picture = renderGrowth([{ title: 'Size', unit: 'bytes', points: even }])
    const [, points = ''] = /polyline class="curve" points="([^"]*)"/.exec(picture) ?? []
    const [first = [], second = [], third = []] = points
      .split(' ')
      .map((place) => place.split(',').map(Number))
    expect(Number(second[0]) - Number(first[0])).to.be.closeTo(
      Number(third[0]) - Number(second[0]),
      0.2,
    )
    expect(Number(second[1]) - Number(first[1])).to.be.closeTo(
      Number(third[1]) - Number(second[1]),
      0.2,
    )
  })

  it('says at the ends of each scale what it counts', () => {
    const labelsOf = (unit: string, name: string, from: number, to: number) => {
      const points = [from, to].map((at) => ({ at, figures: { [name]: at } }))
      const picture = renderGrowth([{ title: 'Size', unit, points }])
      return [...picture.matchAll(/text-anchor: \w+">([^<]*)</g)].map(([, text]) => text)
    }
    expect(labelsOf('bytes', 'GET, ms', 1024, 10 * 1024 ** 3)).to.include.members([
      ...['1 KiB', '10 GiB'],
      ...['1,000 ms', '100,000,000,000 ms'],
    ])
    expect(labelsOf('files', 'GET, CPU s/GiB', 1, 100)).to.deep.equal([
      ...['1', '100 files'],
      ...['100 s/GiB', '1 s/GiB'],
    ])
    expect(labelsOf('connections', 'requests/s', 10, 5000)).to.deep.equal([
      ...['10', '5,000 connections'],
      ...['10,000/s', '10/s'],
    ])
  })

  it('begins a row with each curve', () => {
    const points = [1, 2].map((at) => ({ at, figures: { a: at, b: at } }))
    const picture = renderGrowth(['One', 'Two'].map((title) => ({ title, unit: 'files', points })))
    const places = [...picture.matchAll(/<g transform="translate\((\d+ \d+)\)/g)]
    expect(places.map(([, place]) => place)).to.deep.equal(['0 0', '240 0', '0 160', '240 160'])
  })

  it('leaves out what has no logarithm', () => {
    expect(renderGrowth(curves)).to.not.match(/NaN|Infinity/)
  })
})
