import { expect } from 'chai'
import { collectFigures } from '../collect-figures.ts'

describe('collectFigures', () => {
  it('keeps the lines of suites that have counted something, shows them as ever, and leaves the rest alone', () => {
    const { log } = console
    const shown: unknown[] = []
    console.log = (...values: readonly unknown[]) => void shown.push(...values)
    const figures = collectFigures()
    console.log('figures: kills: 7')
    console.log('no figures: 3', 5)
    console.log('figures: faults: 9')
    const kept = figures()
    console.log('figures: too late: 1')
    console.log = log
    expect(kept).to.deep.equal(['figures: kills: 7', 'figures: faults: 9'])
    expect(shown).to.include.members([
      'figures: kills: 7',
      'no figures: 3',
      5,
      'figures: too late: 1',
    ])
  })
})
