import { execFile } from 'node:child_process'
import { copyFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { withRepository } from '../../boundaries/test/fixture-repository.ts'

const root = join(import.meta.dirname, '../../..')

/** Counts the tests of a repository of these files. In a process of its own, since mocha speaks on our output. */
async function tallyOf(files: Record<string, string>, ...args: string[]): Promise<unknown> {
  return withRepository({ 'package.json': '{"type":"module"}', ...files }, async (folder) => {
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    await symlink(join(root, 'scripts'), join(folder, 'tools'))
    await copyFile(join(root, '.mocharc.json'), join(folder, '.mocharc.json'))
    const module = join(root, 'scripts/checks/run-tests.ts')
    const source = `import { runTests } from ${JSON.stringify(module)}
      console.log('\\n' + JSON.stringify(await runTests(${JSON.stringify(folder)}, ${JSON.stringify(args)})))`
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', source],
      { env: { ...process.env, FORCE_COLOR: '0' } },
    )
    return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as unknown
  })
}

const reporter = ['--reporter', './tools/mocha-reporter.ts']
const good = "it('holds', () => {})\n"
const bad = "it('breaks', () => { throw new Error('broken') })\n"

describe('runTests', () => {
  it('counts what passed and what failed, and tells which', async () => {
    const some = `describe('things', () => {\n${good}${bad}})`
    const files = { 'packages/a/test/a.test.ts': some, 'packages/b/test/b.test.ts': good }
    expect(await tallyOf(files, ...reporter)).to.deep.equal({
      passed: 2,
      failed: 1,
      failures: ['things > breaks: broken'],
    })
  })

  it('runs only the folder that is named', async () => {
    const files = { 'packages/a/test/a.test.ts': bad, 'packages/b/test/b.test.ts': good }
    expect(await tallyOf(files, 'packages/b', ...reporter)).to.deep.include({
      passed: 1,
      failed: 0,
    })
  })

  it('counts a failure when a file does not load', async () => {
    const files = { 'packages/a/test/a.test.ts': good, 'packages/b/test/b.test.ts': 'nonsense()' }
    expect(await tallyOf(files, ...reporter)).to.deep.include({ passed: 0, failed: 1 })
  })

  it('counts a failure when the process ends before its tests', async () => {
    const files = { 'packages/a/test/a.test.ts': "it('leaves', () => process.exit(0))" }
    expect(await tallyOf(files, ...reporter)).to.deep.include({ passed: 0, failed: 1 })
  })

  it('counts a failure when there is no test, and when one is skipped', async () => {
    expect(await tallyOf({}, ...reporter)).to.deep.include({ passed: 0, failed: 1 })
    const skipped = { 'packages/a/test/a.test.ts': `${good}it.skip('waits', () => {})` }
    expect(await tallyOf(skipped, ...reporter)).to.have.property('failed', 1)
  })
})
