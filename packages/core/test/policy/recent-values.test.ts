import { expect } from 'chai'
import { createRecentValues, createRecentMeasurements } from '../../src/policy/recent-values.ts'
import { rejection } from '../rejection.ts'

describe('createRecentValues', () => {
  it('has the values that were set last, and no more than the limit', () => {
    const values = createRecentValues<number>(2)
    for (const [index, key] of ['a', 'b', 'a', 'c'].entries()) values.set(key, index)
    expect(['a', 'b', 'c', 'd'].map((key) => values.get(key))).to.deep.equal([
      2,
      undefined,
      3,
      undefined,
    ])
  })
})

describe('createRecentMeasurements', () => {
  let time = 0
  let calls: string[] = []
  const taking = (ms: number) =>
    createRecentMeasurements(
      async (key) => {
        calls.push(key)
        await Promise.resolve()
        time += ms
        return calls.length
      },
      () => time,
    )
  beforeEach(() => {
    time = 0
    calls = []
  })

  it('measures anew at every call what is quick', async () => {
    const measure = taking(99)
    expect([await measure('a'), await measure('a')]).to.deep.equal([1, 2])
  })

  it('uses what is slow for 20 times as long as it took, for each key', async () => {
    const measure = taking(1_000)
    expect([await measure('a'), await measure('a'), await measure('b')]).to.deep.equal([1, 1, 2])
    time = 20_999
    expect(await measure('a')).to.equal(1)
    time = 21_000
    expect(await measure('a')).to.equal(3)
    expect(calls).to.deep.equal(['a', 'b', 'a'])
  })

  it('uses nothing for more than ten minutes', async () => {
    const measure = taking(60_000)
    await measure('a')
    time += 599_999
    expect(await measure('a')).to.equal(1)
    time += 1
    expect(await measure('a')).to.equal(2)
  })

  it('measures once for calls at the same time, and forgets a failure', async () => {
    const measure = taking(5)
    expect(await Promise.all([measure('a'), measure('a')])).to.deep.equal([1, 1])
    let attempts = 0
    const failing = createRecentMeasurements(async () => {
      if (++attempts === 1) throw new Error('no disk')
      return attempts
    })
    const both = await Promise.all([rejection(failing('a')), rejection(failing('a'))])
    expect(both.map(String)).to.deep.equal(['Error: no disk', 'Error: no disk'])
    expect(await failing('a')).to.equal(2)
  })
})
