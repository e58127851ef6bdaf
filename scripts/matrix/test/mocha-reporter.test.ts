import { execFile } from 'node:child_process'
import { readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { withRepository } from '../../boundaries/test/fixture-repository.ts'
import type { TestResults } from '../../mocha-reporter.ts'
import { wrappers } from '../stores.ts'

const root = join(import.meta.dirname, '../../..')

/** What the reporter leaves of a run of `source`, in a process of its own, since mocha speaks on our output. */
async function resultsOfRun(source: string): Promise<unknown> {
  const files = { 'package.json': '{"type":"module"}', 'a.test.ts': source }
  return withRepository(files, async (folder) => {
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    const reporter = join(root, 'scripts/mocha-reporter.ts')
    const args = ['--reporter', reporter, '--reporter-option', 'results=results.json', 'a.test.ts']
    await promisify(execFile)(join(root, 'node_modules/.bin/mocha'), args, { cwd: folder }).catch(
      () => {},
    )
    const text = await readFile(join(folder, 'results.json'), 'utf8')
    return (JSON.parse(text) as TestResults).contract
  })
}

describe('The results that mocha-reporter.ts keeps', () => {
  it('are those of the contract suites, good and bad, wherever the suite stands', async () => {
    const results = await resultsOfRun(`
      it('is of no suite', () => {})
      describe('a file', () => {
        describe('plain names as a BlobStore', () => {
          describe('ranges', () => {
            it('reads one', () => {})
            it('reads two', () => { throw new Error('broken') })
          })
        })
        describe('ranges', () => it('is of no store', () => {}))
      })
      describe('MinIO as a BlobStore', () => describe('full', () => it('refuses', () => {})))
      describe('MinIO as ResumableUploads', () => describe('full', () => it('refuses', () => {})))
    `)
    expect(results).to.deep.equal([
      { suite: 'plain names', group: 'ranges', test: 'reads one', passed: true },
      { suite: 'plain names', group: 'ranges', test: 'reads two', passed: false },
      { suite: 'MinIO', group: 'full', test: 'refuses', passed: true },
      { suite: 'MinIO', group: 'uploads in pieces: full', test: 'refuses', passed: true },
    ])
  })

  it('leave out what is skipped, and what a broken hook kept from running', async () => {
    const results = await resultsOfRun(`
      describe('a as a BlobStore', () => describe('ranges', () => it.skip('waits', () => {})))
      describe('b as a BlobStore', () => {
        before(() => { throw new Error('broken') })
        describe('ranges', () => it('never runs', () => {}))
      })
    `)
    expect(results).to.deep.equal([])
  })

  it('leave out what goes around a store', async () => {
    const results = await resultsOfRun(`
      describe(${JSON.stringify(`${wrappers[0]} as a BlobStore`)}, () => {
        describe('ranges', () => it('reads one', () => {}))
      })
      describe(${JSON.stringify(`${wrappers[0]} as ResumableUploads`)}, () => {
        describe('appending', () => it('keeps one byte', () => {}))
      })
    `)
    expect(results).to.deep.equal([])
  })
})
