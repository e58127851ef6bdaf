import { execFile } from 'node:child_process'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { openAppendable } from '../../src/audit/open-trail-file.ts'
import { createAppendLines } from '../../src/log/lines.ts'

describe('openAppendable', () => {
  it('gives up at a full pipe, or waits until its reader takes something', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'holdfast-pipe-'))
    const path = join(directory, 'pipe')
    await promisify(execFile)('mkfifo', [path])
    const reader = await open(path, 'r+')
    const pipe = await openAppendable(path)
    const lines = Buffer.from(`${'x'.repeat(1023)}\n`.repeat(2000))
    const append = createAppendLines()
    const refused = await append(pipe.writeSome, lines, { giveUpAfterMs: 0 })
    expect(refused.error).to.have.property('code', 'EAGAIN')
    expect(refused.lines).to.be.greaterThan(0)

    const waiting = append(pipe.writeSome, Buffer.from('last\n'))
    const taken = Buffer.alloc(1024 * refused.lines + 5)
    let length = 0
    while (length < taken.length) length += (await reader.read(taken, length)).bytesRead
    expect(await waiting).to.deep.equal({ lines: 1, error: undefined })
    expect(taken.subarray(-10).toString()).to.equal('xxxx\nlast\n')
    await Promise.all([pipe.close(), reader.close()])
    await rm(directory, { recursive: true })
  })
})
