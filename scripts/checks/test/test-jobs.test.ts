import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { slowTests } from '../slow-tests.ts'
import { testJobs } from '../test-jobs.ts'

const root = join(import.meta.dirname, '../../..')

describe('testJobs', () => {
  it('has those that take long begin first, and leaves the others in their order', () => {
    const [longest = '', second = ''] = slowTests
    const files = ['b/b.test.ts', second, 'a/a.test.ts', longest]
    const titles = testJobs(root, { files, options: [] }).map(({ title }) => title)
    expect(titles).to.deep.equal([longest, second, 'b/b.test.ts', 'a/a.test.ts'])
  })

  it('knows of no file that is gone', () => {
    expect(slowTests.filter((file) => !existsSync(join(root, file)))).to.deep.equal([])
  })
})
