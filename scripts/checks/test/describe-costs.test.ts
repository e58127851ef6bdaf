import { expect } from 'chai'
import { describeCosts } from '../describe-costs.ts'

function done(title: string, seconds: number, processorSeconds?: number) {
  const job = { title, isAlone: false, run: () => Promise.reject(new Error('has run')) }
  return { job, seconds, result: { processorSeconds } }
}

describe('describeCosts', () => {
  it('sums up, and names first what took the processors longest', () => {
    const jobs = [done('lint', 40, 30.4), done('packages/a/test/a.test.ts', 7, 90), done('x', 1)]
    expect(describeCosts(jobs)).to.deep.equal([
      'processor seconds (seconds from start to end) of all jobs, without containers: 120 (48)',
      'most of them: a.test.ts 90 (7), lint 30 (40), x 0 (1)',
    ])
  })

  it('names a dozen at most', () => {
    const [, most = ''] = describeCosts(
      Array.from({ length: 30 }, (_, at) => done(`${at}`, at, at)),
    )
    expect(most.split(', ')).to.have.length(12)
  })
})
