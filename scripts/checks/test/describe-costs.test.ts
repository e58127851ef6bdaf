import { expect } from 'chai'
import { describeCosts } from '../describe-costs.ts'
import type { JobKind } from '../job-kind.ts'

function done(title: string, kind: JobKind, seconds: number, processorSeconds?: number) {
  const run = () => Promise.reject(new Error('has run'))
  const job = { title, kind, isAlone: false, isExternal: false, run }
  return { job, seconds, result: { processorSeconds } }
}

describe('describeCosts', () => {
  it('sums up by kind, and names first what took the processors longest', () => {
    const jobs = [
      done('lint', 'lint and format', 40, 30.4),
      done('packages/a/test/a.test.ts', 'units', 7, 90),
      done('packages/a/test/b.test.ts', 'units', 7, 10),
      done('x', 'units', 1),
    ]
    expect(describeCosts(jobs, 150)).to.deep.equal([
      'processor seconds by kind (jobs):',
      '    30 lint and format (1)',
      '     0 build and types (0)',
      '   100 units (3)',
      '     0 the product as a whole (0)',
      '     0 MinIO (0)',
      '     0 other S3 servers (0)',
      '     0 browsers (0)',
      '     0 crashes, power cuts and faults (0)',
      '     0 release and installation (0)',
      '     0 the bench itself (0)',
      '    20 containers, and what else runs',
      '   150 altogether',
      'the 4 dearest:',
      '    90 packages/a/test/a.test.ts, in 7 s',
      '    30 lint, in 40 s',
      '    10 packages/a/test/b.test.ts, in 7 s',
      '     0 x, in 1 s',
    ])
  })

  it('names ten at most, and does without what the machine has done', () => {
    const lines = describeCosts(Array.from({ length: 30 }, (_, at) => done('x', 'units', at, at)))
    expect(lines.slice(lines.indexOf('the 10 dearest:'))).to.have.length(11)
    expect(lines).to.include('   435 altogether').and.not.include('what else runs')
  })
})
