import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { flakyTests } from '../flaky-tests.ts'
import { processorTimeOfMachine } from '../processor-time.ts'
import { describeRepetitions, repeatJobs, startLoad } from '../repeat-tests.ts'
import type { Job } from '../run-jobs.ts'
import type { Report } from '../report.ts'

const root = join(import.meta.dirname, '../../..')

describe('repeatJobs', () => {
  it('has each job twenty times, in rounds, beside others', () => {
    const job = (title: string): Job<Report> => {
      const run = () => Promise.reject(new Error('has run'))
      return { title, kind: 'units', isAlone: true, isExternal: true, run }
    }
    const jobs = repeatJobs([job('a'), job('b')])
    expect(jobs).to.have.length(40)
    expect(jobs.slice(0, 3).map(({ title }) => title)).to.deep.equal([
      'a, 1 of 20',
      'b, 1 of 20',
      'a, 2 of 20',
    ])
    expect(jobs.some(({ isAlone, isExternal }) => isAlone || isExternal)).to.equal(false)
  })
})

describe('describeRepetitions', () => {
  it('says of each file how often it failed, and how', () => {
    const failure = { file: 'b', title: 'page > opens', message: 'it died\nat 7', again: '' }
    expect(describeRepetitions(['a', 'b'], [[], [failure, failure], [failure]])).to.deep.equal([
      'a: passed 20 of 20: take it off flaky-tests.ts',
      'b: failed 2 of 20: page > opens, it died',
    ])
  })
})

describe('startLoad', () => {
  it('keeps the processors busy until it is ended', async () => {
    const before = processorTimeOfMachine()
    const end = startLoad()
    await setTimeout(1000)
    end()
    const after = processorTimeOfMachine()
    if (before === undefined || after === undefined) return
    expect(after - before).to.be.above(0.5)
  })
})

describe('flakyTests', () => {
  it('are files that are there, each with its day', () => {
    for (const { file, since } of flakyTests) {
      expect(existsSync(join(root, file)), file).to.equal(true)
      expect(since).to.match(/^20\d\d-\d\d-\d\d$/)
    }
  })
})
