import { expect } from 'chai'
import { isReached, valueOf, type Aim } from '../report/aim.ts'
import { aims } from '../report/aims.ts'
import { row } from './result-fixtures.ts'

const aimOf = (scenario: string, what: RegExp): Aim => {
  const found = aims.find((aim) => aim.scenario === scenario && what.test(aim.what))
  if (found === undefined) throw new Error(`There is no aim ${what} of ${scenario}`)
  return found
}

describe('aims', () => {
  it('count how much faster holdfast is, by rates as by times', () => {
    const rows = [
      row('holdfast', 'GET', { perSecond: 30, seconds: 2 }),
      row('fastify', 'GET', { perSecond: 10, seconds: 5 }),
    ]
    expect(valueOf(aimOf('get-4kib-hot', /fastify/), rows).median).to.equal(3)
    expect(valueOf(aimOf('tls-get-1gib', /fastify/), rows).median).to.equal(2.5)
  })

  it('compare within each round, so that a machine that becomes faster changes nothing', () => {
    const rounds = (...rates: number[]) => rates.map((perSecond) => ({ perSecond }))
    const rows = [
      { ...row('holdfast', 'GET', {}), rounds: rounds(30, 60, 300, 90) },
      { ...row('fastify', 'GET', {}), rounds: rounds(10, 20, 100, 90) },
    ]
    const { median, quartiles } = valueOf(aimOf('get-4kib-hot', /fastify/), rows)
    expect(median).to.equal(3)
    expect(quartiles).to.deep.equal([2.5, 3])
  })

  it('are reached at their bound, and missed beyond it', () => {
    const aim = aimOf('upload-4kib', /CPU of a PUT/)
    expect([1.3, 1.35, 1.4].map((value) => isReached(aim, value))).to.deep.equal([
      true,
      true,
      false,
    ])
  })

  it('count for a client how much faster the executable is', () => {
    const rows = [
      row('executable', 'put', { seconds: 2 }),
      row('holdfast', 'put', { seconds: 4 }),
      row('curl', 'put', { seconds: 6 }),
    ]
    const aim = aimOf('client-large', /^speed of puts, against curl, by the single executable$/)
    expect(valueOf(aim, rows).median).to.equal(3)
  })

  it('bound the memory of the executable as a client by the worse of its verbs', () => {
    const rows = [
      row('executable', 'put', { peakMiB: 80 }),
      row('executable', 'get', { peakMiB: 120 }),
      row('holdfast', 'put', { peakMiB: 200 }),
    ]
    expect(valueOf(aimOf('client-large', /memory/), rows).median).to.equal(120)
  })

  it('are ratios, but for memory', () => {
    const absolute = aims.filter(({ unit }) => unit !== '×').map(({ unit }) => unit)
    expect(new Set(absolute)).to.deep.equal(new Set(['MiB']))
  })

  it('are neither reached nor missed where nothing was measured', () => {
    for (const aim of aims) {
      const { median } = valueOf(aim, [])
      expect(median, aim.what).to.deep.equal(NaN)
      expect(isReached(aim, median)).to.equal(undefined)
    }
  })
})
