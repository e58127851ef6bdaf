import { expect } from 'chai'
import { retryExternal } from '../retry-external.ts'
import type { Failure, Report } from '../report.ts'
import type { Job } from '../run-jobs.ts'

/**
 * `outcomes` has for each file, those of `external/` among them, how many of its three tests fail in its first run and in its second.
 * Those of `external/shared/` are one job.
 */
async function judge(outcomes: Readonly<Record<string, readonly [number, number]>>) {
  const files = Object.keys(outcomes)
  const groups = Map.groupBy(files, (file) => (file.includes('/shared/') ? 'shared' : file))
  const reportOf = (file: string, run: 0 | 1) => report(file, outcomes[file]?.[run] ?? 0)
  const jobs = [...groups.values()].map(([title = '']): Job<Report> => {
    const run = () => Promise.reject(new Error('is run by retryExternal only'))
    const isExternal = title.startsWith('external/')
    return { title, kind: 'units', isAlone: false, isExternal, run }
  })
  const reports = [...groups.values()].map((group) => {
    const all = group.map((file) => reportOf(file, 0))
    const passed = all.reduce((sum, each) => sum + each.passed, 0)
    return { ...report('', 0), passed, failures: all.flatMap(({ failures }) => failures) }
  })
  const again: string[] = []
  const judged = await retryExternal(jobs, reports, (chosen) => {
    again.push(...chosen)
    return Promise.resolve(chosen.map((file) => reportOf(file, 1)))
  })
  const failures = judged.reports.flatMap((each) => each.failures.map(({ title }) => title))
  const passed = judged.reports.reduce((sum, each) => sum + each.passed, 0)
  return { again, failures, passed, flaky: judged.flaky }
}

function report(file: string, failing: number): Report {
  const failures = Array.from({ length: failing }, (_, at): Failure => {
    return { file, title: `${file} > test ${at}`, message: `\nbroken ${at}\nat line 7`, again: '' }
  })
  return { passed: 3 - failing, failures, output: '', figures: [], contract: [] }
}

describe('retryExternal', () => {
  it('runs nothing again where all is well, or where only our own have failed', async () => {
    expect(await judge({ 'external/a': [0, 0], own: [1, 0] })).to.deep.equal({
      again: [],
      failures: ['own > test 0'],
      passed: 5,
      flaky: [],
    })
  })

  it('counts an external file that passes then as passed, and names it', async () => {
    const outcome = await judge({ own: [0, 0], 'external/a': [2, 0], 'external/b': [0, 0] })
    expect(outcome).to.deep.equal({
      again: ['external/a'],
      failures: [],
      passed: 9,
      flaky: [{ file: 'external/a', title: 'external/a > test 0', error: 'broken 0' }],
    })
  })

  it('runs of a process with several files only those that have failed', async () => {
    const [a, b, c] = ['a', 'b', 'c'].map((name) => `external/shared/${name}`)
    const outcome = await judge({ [a!]: [0, 0], [b!]: [1, 0], [c!]: [1, 1] })
    expect(outcome).to.deep.include({ again: [b, c], failures: [`${c} > test 0`], passed: 8 })
    expect(outcome.flaky.map(({ file }) => file)).to.deep.equal([b])
  })

  it('keeps the first failure where the second run fails, too', async () => {
    const { failures, flaky } = await judge({ 'external/a': [1, 2], 'external/b': [1, 0] })
    expect(failures).to.deep.equal(['external/a > test 0'])
    expect(flaky.map(({ file }) => file)).to.deep.equal(['external/b'])
  })

  it('tries three files again, and none where more have failed', async () => {
    const failing = (count: number) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, at) => [`external/${at}`, [1, 0] as const]),
      )
    const three = await judge(failing(3))
    expect([three.flaky.length, three.failures.length]).to.deep.equal([3, 0])
    const four = await judge(failing(4))
    expect([four.flaky.length, four.failures.length, four.again.length]).to.deep.equal([0, 5, 0])
    expect(four.failures.at(-1)).to.equal('tests of programs that others make')
  })
})
