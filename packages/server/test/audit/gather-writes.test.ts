import { expect } from 'chai'
import { gatherWrites } from '../../src/audit/open-trail-file.ts'

describe('gatherWrites', () => {
  it('writes one thing after the other, and takes together what came meanwhile', async () => {
    const calls: (readonly number[])[] = []
    const gates: (() => void)[] = []
    const write = gatherWrites<number>((items) => {
      calls.push(items)
      return new Promise((resolve) => gates.push(resolve))
    })
    const settled: number[] = []
    const put = (item: number) => write(item).then(() => void settled.push(item))
    const first = [put(1), put(2)]
    await Promise.resolve()
    const second = [put(3), put(4), put(5)]
    expect(calls).to.deep.equal([[1, 2]])
    gates[0]?.()
    await Promise.all(first)
    expect([calls, settled]).to.deep.equal([
      [
        [1, 2],
        [3, 4, 5],
      ],
      [1, 2],
    ])
    gates[1]?.()
    await Promise.all(second)
    expect(settled).to.deep.equal([1, 2, 3, 4, 5])
  })
})
