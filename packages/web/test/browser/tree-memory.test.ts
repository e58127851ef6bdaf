import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect } from 'chai'
import { treeMemoryMiB } from './tree-memory.ts'

describe('treeMemoryMiB', () => {
  it('counts what a process holds, and what those that it started hold', async () => {
    const hold = `const held = Buffer.alloc(128 * 1024 ** 2, 1); process.stdout.write('held'); process.stdin.resume()`
    const child = spawn(
      process.execPath,
      [
        '-e',
        `const { spawn } = require('node:child_process')
         spawn(process.execPath, ['-e', ${JSON.stringify(hold)}], { stdio: ['inherit', 'inherit', 'inherit'] })`,
      ],
      { stdio: ['pipe', 'pipe', 'inherit'] },
    )
    await once(child.stdout, 'data')
    expect(await treeMemoryMiB(child.pid ?? 0)).to.be.above(128)
    const ended = once(child, 'exit')
    child.stdin.end()
    await ended
    expect(await treeMemoryMiB(child.pid ?? 0)).to.equal(0)
  })
})
