import { expect } from 'chai'
import { finderIn, isReached, type Aim } from '../report/aim.ts'
import { aims } from '../report/aims.ts'
import { row } from './result-fixtures.ts'

describe('aims', () => {
  it('are held against what was measured', () => {
    const find = finderIn([
      row('holdfast', '/ping', { cpuMicroseconds: 50 }),
      row('application', '/plain', { cpuMicroseconds: 40 }),
      row('application', '/authenticated', { cpuMicroseconds: 42 }),
    ])
    const aim = aims.find(({ scenario }) => scenario === 'authentication')!
    expect(aim.measured(find)).to.be.closeTo(4, 1e-9)
    expect(isReached(aim, 4)).to.equal(true)
    expect(isReached(aim, 5.1)).to.equal(false)
  })

  it('count how much faster holdfast is, by rates as by times', () => {
    const find = finderIn([
      row('holdfast', 'GET', { perSecond: 30, seconds: 2 }),
      row('fastify', 'GET', { perSecond: 10, seconds: 5 }),
    ])
    const measured = (scenario: string) =>
      aims.find((aim) => aim.scenario === scenario && aim.what.endsWith('fastify'))!.measured(find)
    expect(measured('get-4kib-hot')).to.equal(3)
    expect(measured('tls-get-1gib')).to.equal(2.5)
  })

  it('count for a client how much faster the executable is', () => {
    const find = finderIn([
      row('executable', 'put', { seconds: 2 }),
      row('holdfast', 'put', { seconds: 4 }),
      row('curl', 'put', { seconds: 6 }),
    ])
    const isSpeed = ({ scenario, what }: Aim) =>
      scenario === 'client-large' && what === 'speed of put, against curl, by the single executable'
    expect(aims.find(isSpeed)!.measured(find)).to.equal(3)
  })

  it('have the unit of the figure that they bound', () => {
    const unitsOf = (name: string) =>
      aims.filter(({ scenario }) => scenario === name).map(({ unit }) => unit)
    expect(unitsOf('delete')).to.deep.equal(['µs'])
    expect(unitsOf('upload-64-at-once')).to.deep.equal(['×', 's/GiB', 'MiB'])
    expect(unitsOf('cold-start')).to.deep.equal(['ms', 'ms'])
    expect(unitsOf('client-small')).to.deep.equal(['×', '×', 'MiB'])
  })

  it('bound the memory of the executable as a client by the worse of its verbs', () => {
    const find = finderIn([
      row('executable', 'put', { peakMiB: 80 }),
      row('executable', 'get', { peakMiB: 120 }),
      row('holdfast', 'put', { peakMiB: 200 }),
    ])
    const memory = aims.find(({ scenario, most }) => scenario === 'client-large' && most === 100)!
    expect(memory.measured(find)).to.equal(120)
  })

  it('are neither reached nor missed where nothing was measured', () => {
    for (const aim of aims) {
      const value = aim.measured(finderIn([]))
      expect(value, aim.what).to.deep.equal(NaN)
      expect(isReached(aim, value)).to.equal(undefined)
    }
  })
})
