import { expect } from 'chai'
import { growthTable } from '../curves/growth-table.ts'
import { renderGrowth } from '../curves/render-growth.ts'

const curves = [
  {
    title: 'Files',
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
    const picture = renderGrowth([{ title: 'Size', points: even }])
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

  it('leaves out what has no logarithm', () => {
    expect(renderGrowth(curves)).to.not.match(/NaN|Infinity/)
  })
})
