import { expect } from 'chai'
import { retryExternal } from '../retry-external.ts'
import type { Failure, Report } from '../report.ts'
import type { Job } from '../run-jobs.ts'

/** `outcomes` has for each job, `external …` among them, what its first run and its second come to: how many tests fail. */
async function judge(outcomes: Readonly<Record<string, readonly number[]>>) {
  const runs: string[] = []
  const jobs = Object.entries(outcomes).map(([title, fails]): Job<Report> => {
    let times = 0
    return {
      title,
      kind: 'units',
      isAlone: false,
      isExternal: title.startsWith('external'),
      run: () => {
        runs.push(title)
        return Promise.resolve(report(title, fails[times++] ?? 0))
      },
    }
  })
  const all = async (of: readonly Job<Report>[]) =>
    Promise.all(of.map((job) => job.run(AbortSignal.abort())))
  const again: boolean[] = []
  const { reports, flaky } = await retryExternal(jobs, await all(jobs), async (of) => {
    again.push(...of.map(({ isAlone }) => isAlone))
    return all(of)
  })
  const failures = reports.flatMap((each) => each.failures.map(({ title }) => title))
  const passed = reports.reduce((sum, each) => sum + each.passed, 0)
  return { second: runs.slice(jobs.length), alone: again, failures, passed, flaky }
}

function report(file: string, failing: number): Report {
  const failures = Array.from({ length: failing }, (_, at): Failure => {
    return { file, title: `${file} > test ${at}`, message: `\nbroken ${at}\nat line 7`, again: '' }
  })
  return { passed: 3 - failing, failures, output: '', figures: [], contract: [] }
}

describe('retryExternal', () => {
  it('runs nothing again where all is well, or where only our own have failed', async () => {
    const { second, failures, flaky } = await judge({ 'external a': [0], own: [1, 0] })
    expect({ second, failures, flaky }).to.deep.equal({
      second: [],
      failures: ['own > test 0'],
      flaky: [],
    })
  })

  it('takes the second run of an external file for its result where that passes, and names it', async () => {
    const outcome = await judge({ own: [0], 'external a': [2, 0], 'external b': [0] })
    expect(outcome).to.deep.equal({
      second: ['external a'],
      alone: [true],
      failures: [],
      passed: 9,
      flaky: [{ file: 'external a', title: 'external a > test 0', error: 'broken 0' }],
    })
  })

  it('keeps the first failure where the second run fails, too', async () => {
    const { failures, flaky } = await judge({ 'external a': [1, 2], 'external b': [1, 0] })
    expect(failures).to.deep.equal(['external a > test 0'])
    expect(flaky.map(({ file }) => file)).to.deep.equal(['external b'])
  })

  it('tries three files again, and none where more have failed', async () => {
    const failing = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`external ${at}`, [1, 0]]))
    const three = await judge(failing(3))
    expect([three.flaky.length, three.failures.length]).to.deep.equal([3, 0])
    const four = await judge(failing(4))
    expect([four.flaky.length, four.failures.length, four.second.length]).to.deep.equal([0, 5, 0])
    expect(four.failures.at(-1)).to.equal('tests of programs that others make')
  })
})
