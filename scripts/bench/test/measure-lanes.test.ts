import { expect } from 'chai'
import { measureLanes } from '../measure/measure-lanes.ts'
import type { Figures } from '../measure/figures.ts'

describe('measureLanes', () => {
  it('measures all lanes in turn, round by round, and takes medians without the first', async () => {
    const done: string[] = []
    const lane = (subject: string, figures: readonly Figures[]) => ({
      subject,
      work: 'GET',
      measure: async (round: number) => {
        done.push(`${subject} ${round}`)
        return figures[round] ?? {}
      },
    })
    const [cold, ...warm] = [900, 10, 30, 20].map((seconds) => ({ seconds }))
    const rows = await measureLanes([lane('a', [cold!, ...warm]), lane('b', [])], 3, () => {})
    expect(done).to.deep.equal(['a 0', 'b 0', 'a 1', 'b 1', 'a 2', 'b 2', 'a 3', 'b 3'])
    expect(rows).to.deep.equal([
      { subject: 'a', work: 'GET', figures: { seconds: 20 }, rounds: warm },
      { subject: 'b', work: 'GET', figures: {}, rounds: [{}, {}, {}] },
    ])
  })
})
