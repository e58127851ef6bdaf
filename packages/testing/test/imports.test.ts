import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'

/** Prints the modules of other packages that an import loads. */
const script = `
  const { registerHooks } = await import('node:module')
  registerHooks({
    load(url, context, next) {
      if (url.includes('/node_modules/')) console.log(url)
      return next(url, context)
    },
  })
  await import('@holdfast/testing')`

describe('@holdfast/testing', () => {
  it('loads no package of others, so that a test pays only for what it uses', async () => {
    const cwd = join(import.meta.dirname, '..')
    const args = ['--input-type=module', '--eval', script]
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd })
    expect(stdout).to.equal('')
  })
})
