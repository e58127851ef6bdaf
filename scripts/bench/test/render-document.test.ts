import { expect } from 'chai'
import { emptyDocument, intoDocument } from '../report/document.ts'
import { renderFigures, renderResults } from '../report/render-document.ts'
import { resultOf, row } from './result-fixtures.ts'

const scenarios = [
  { name: 'get-1gib', title: 'GET of 1 GiB', how: 'One at a time.', compared: 'seconds' },
  { name: 'delete', title: 'Deletion', how: 'One by one.', compared: 'perSecond' },
] as const

const result = resultOf('get-1gib', [
  row('holdfast', 'GET', { seconds: 0.3 }),
  row('nginx', 'GET', { seconds: 0.15 }),
])

describe('renderResults', () => {
  it('says how it was measured, and with which versions', () => {
    const text = renderResults(scenarios, [result])
    for (const part of ['scripts/bench/run --out docs', '2 × processor', 'v24.0.0', 'wrk 4']) {
      expect(text).to.include(part)
    }
    expect(text)
      .to.include('**Servers and clients**: holdfast (0.1.0)')
      .and.to.include('**Missing**: nothing')
  })

  it('says of each aim whether it is reached, missed, or not measured', () => {
    const text = renderResults(scenarios, [result])
    const aim = /^\| GET of 1 GiB \| .*$/m.exec(text)?.[0]
    expect(aim).to.equal(
      '| GET of 1 GiB | time, against nginx | at most 1.5 × | 2.00 × | 2.00 to 2.00 | **no** |',
    )
    expect(text).to.match(/\| cold-start \|.*\| - \| - \| not measured \|/)
    const faster = resultOf('get-1gib', [
      row('holdfast', 'GET', { seconds: 0.2 }),
      row('nginx', 'GET', { seconds: 0.15 }),
    ])
    expect(renderResults(scenarios, [faster])).to.include('| 1.33 × | 1.33 to 1.33 | yes |')
  })
})

describe('renderResults with another checkout', () => {
  const beside = (seconds: number) =>
    renderResults(scenarios, [
      resultOf('get-1gib', [
        row('holdfast', 'GET', { seconds }),
        row('before', 'GET', { seconds: 0.3 }),
      ]),
    ])

  it('names the works that are slower by more than a twentieth', () => {
    expect(beside(0.4)).to.include('- GET of 1 GiB, GET: 0.750 × (0.750 to 0.750)')
    expect(beside(0.31)).to.include('None of 1 works is slower by more than a twentieth.')
  })
})

describe('renderFigures', () => {
  it('has a section for what was measured only, with its commit, and the ratio to each of the others', () => {
    const text = renderFigures(scenarios, [result])
    expect(text).to.include(
      '## GET of 1 GiB\n\nOne at a time.\n\nMedians of 5 rounds at commit `abc1234`',
    )
    expect(text).to.include('| nginx | GET | 0.150 | 0.500 × |')
    expect(text).not.to.include('## Deletion')
  })

  it('says of a quick run that it is a first impression', () => {
    const text = renderFigures(scenarios, [{ ...result, command: 'scripts/bench/run --quick' }])
    expect(text).to.include('2026-01-02; a first impression, with less of everything.')
    expect(renderFigures(scenarios, [result])).not.to.include('impression')
  })

  it('names what is missing, and why', () => {
    const missing = { dufs: 'there is no program dufs' }
    const results = [{ ...result, missing }]
    expect(renderResults(scenarios, results)).to.include(
      '**Missing**: dufs: there is no program dufs',
    )
    expect(renderFigures(scenarios, results)).to.include('Missing: dufs, there is no program dufs.')
  })
})

describe('intoDocument', () => {
  it('replaces what was measured, and leaves alone what was written around it', () => {
    const first = intoDocument(`${emptyDocument}\nAbout growth.\n`, 'measured', 'old $& figures\n')
    const second = intoDocument(first, 'measured', 'new figures\n')
    expect(first).to.include('old $& figures').and.to.include('About growth.')
    expect(second).to.include('new figures').and.to.include('About growth.')
    expect(second).not.to.include('old')
  })

  it('refuses a document without a place for it', () => {
    expect(() => intoDocument('# Benchmarks\n', 'growth', '')).to.throw('no place')
  })
})
