import { expect } from 'chai'
import { measureLanes } from '../measure/measure-lanes.ts'
import type { Figures } from '../measure/figures.ts'

describe('measureLanes', () => {
  it('measures one work after the other, the subjects in an order shuffled anew, and takes medians without the first round', async () => {
    const done: string[] = []
    const lane = (subject: string, work: string, figures: readonly Figures[]) => ({
      subject,
      work,
      measure: async (round: number) => {
        done.push(`${subject} ${work} ${round}`)
        return figures[round] ?? {}
      },
    })
    const [cold, ...warm] = [900, 10, 30, 20].map((seconds) => ({ seconds }))
    const lanes = [lane('a', 'PUT', [cold!, ...warm]), lane('a', 'GET', []), lane('b', 'PUT', [])]
    // What each lane of a round draws: PUT of a and b, then GET of a.
    const draws = [0.1, 0.2, 0, 0.9, 0.2, 0, 0.1, 0.2, 0, 0.9, 0.2, 0].values()
    const random = () => draws.next().value ?? 0
    const rows = await measureLanes(lanes, 3, () => {}, random)
    expect(done).to.deep.equal([
      ...['a PUT 0', 'b PUT 0', 'a GET 0'],
      ...['b PUT 1', 'a PUT 1', 'a GET 1'],
      ...['a PUT 2', 'b PUT 2', 'a GET 2'],
      ...['b PUT 3', 'a PUT 3', 'a GET 3'],
    ])
    expect(rows).to.deep.equal([
      { subject: 'a', work: 'PUT', figures: { seconds: 20 }, rounds: warm },
      { subject: 'a', work: 'GET', figures: {}, rounds: [{}, {}, {}] },
      { subject: 'b', work: 'PUT', figures: {}, rounds: [{}, {}, {}] },
    ])
  })
})
