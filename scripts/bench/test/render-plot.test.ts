import { expect } from 'chai'
import { plotRows } from '../report/plot-rows.ts'
import { renderPlot } from '../report/render-plot.ts'
import { resultOf, row } from './result-fixtures.ts'

const scenarios = [
  { name: 'get', title: 'GET', how: '', compared: 'perSecond' },
  { name: 'upload', title: 'Upload', how: '', compared: 'growthMiB' },
] as const

describe('plotRows', () => {
  it('has a row for each work that others did, too, with how much better holdfast is', () => {
    const rows = [
      row('holdfast', 'GET', { perSecond: 100 }),
      row('holdfast', '/ping', { perSecond: 500 }),
      row('nginx', 'GET', { perSecond: 400 }),
      row('before', 'GET', { perSecond: 50 }),
    ]
    expect(plotRows(scenarios, [resultOf('get', rows)])).to.deep.equal([
      { title: 'GET', points: [{ subject: 'nginx', ratio: 0.25 }] },
    ])
  })

  it('distinguishes several works of a scenario, and leaves out what has no ratio', () => {
    const rows = [
      row('holdfast', 'form', { growthMiB: 10 }),
      row('holdfast', 'PUT', { growthMiB: 20 }),
      row('express', 'form', { growthMiB: 40 }),
      row('dufs', 'PUT', { growthMiB: 10 }),
      row('nginx', 'PUT', { growthMiB: 0 }),
    ]
    expect(plotRows(scenarios, [resultOf('upload', rows)])).to.deep.equal([
      { title: 'Upload, form', points: [{ subject: 'express', ratio: 4 }] },
      { title: 'Upload, PUT', points: [{ subject: 'dufs', ratio: 0.5 }] },
    ])
  })
})

describe('renderPlot', () => {
  const placesOf = (svg: string) =>
    [...svg.matchAll(/translate\(([\d.]+) [\d.]+\)/g)].map(([, x]) => Number(x)).slice(-3)

  it('puts equal ratios at equal distances, better ones further to the right', () => {
    const points = [0.25, 1, 4].map((ratio) => ({ subject: 'nginx', ratio }))
    const [worse = NaN, even = NaN, better = NaN] = placesOf(renderPlot([{ title: 'GET', points }]))
    expect(better - even)
      .to.be.closeTo(even - worse, 0.2)
      .and.to.be.above(0)
  })

  it('is well-formed, and names each work and each server', () => {
    const svg = renderPlot([{ title: 'GET of 4 KiB', points: [{ subject: 'dufs', ratio: 3 }] }])
    expect(svg).to.match(/^<svg [^]*<\/svg>\n$/)
    expect(svg).to.include('>GET of 4 KiB</text>').and.to.include('<title>dufs</title>')
    expect(svg.match(/<(text|line|title|path|style)\b/g)?.length).to.equal(
      (svg.match(/<\/(text|title|path|style)>/g)?.length ?? 0) +
        (svg.match(/<line\b/g)?.length ?? 0),
    )
  })

  it('is drawn even where there is nothing to show', () => {
    expect(renderPlot([])).to.include('</svg>').and.not.to.include('NaN')
  })
})
