import { execFile } from 'node:child_process'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { openAppendable } from '../../src/audit/appendable.ts'

describe('openAppendable', () => {
  it('gives up at a full pipe, or waits until its reader takes something', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'holdfast-pipe-'))
    const path = join(directory, 'pipe')
    await promisify(execFile)('mkfifo', [path])
    const reader = await open(path, 'r+')
    const pipe = await openAppendable(path)
    const lines = Buffer.from(`${'x'.repeat(1023)}\n`.repeat(2000))
    const refusal: unknown = await pipe.append(lines, false).catch((error: unknown) => error)
    expect(refusal).to.be.an('error').with.property('name', 'AppendError')
    const { written } = refusal as { written: number }
    expect(written)
      .to.be.greaterThan(0)
      .and.satisfy((bytes: number) => bytes % 1024 === 0)

    const waiting = pipe.append(Buffer.from('last\n'), true)
    const taken = Buffer.alloc(written + 5)
    let length = 0
    while (length < taken.length) length += (await reader.read(taken, length)).bytesRead
    await waiting
    expect(taken.subarray(-10).toString()).to.equal('xxxx\nlast\n')
    await Promise.all([pipe.close(), reader.close()])
    await rm(directory, { recursive: true })
  })
})
