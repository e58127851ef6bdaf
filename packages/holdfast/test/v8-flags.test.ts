import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'

const program = join(import.meta.dirname, '../dist/main.js')

/** Loads the program, and prints the flags of V8 that this sets. */
const script = `
import { syncBuiltinESMExports } from 'node:module'
import v8 from 'node:v8'
const flags = []
v8.setFlagsFromString = (flag) => void flags.push(flag)
syncBuiltinESMExports()
await import(${JSON.stringify(program)})
console.log(JSON.stringify(flags))`

describe('The program', () => {
  it('sets no flag of V8 while it is loaded: what one command needs would slow down all others', async () => {
    const args = ['--input-type=module', '--eval', script]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    expect(JSON.parse(stdout)).to.deep.equal([])
  })
})
