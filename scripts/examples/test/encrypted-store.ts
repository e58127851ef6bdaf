import { statfsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { readmeLines, runInExample } from './run-example.ts'

describe('examples/encrypted-store', function () {
  this.timeout(300_000)

  it('passes the whole suite of the port', async () => {
    // The store below is the disk's, whose syncs are tested elsewhere; here they would only take their time.
    const folder = await mkdtemp(join(roomInMemory() ?? tmpdir(), 'holdfast-example-'))
    try {
      const { code, stdout } = await runInExample('encrypted-store', 'npm test', { TMPDIR: folder })
      expect(stdout).to.match(/^ *[4-9]\d\d passing/m)
      expect(stdout).not.to.match(/failing|pending/)
      expect(code).to.equal(0)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('keeps a file that is readable through it only', async () => {
    const data = await mkdtemp(join(tmpdir(), 'holdfast-example-'))
    try {
      const [line = ''] = await readmeLines('encrypted-store', /^MASTER_KEY=/)
      const { stdout, stderr } = await runInExample('encrypted-store', line, { DATA: data })
      expect([stdout, stderr]).to.deep.equal(['holdfast', ''])
      const stored = await readFile(join(data, 'files/alice/hello.txt'))
      expect(stored.length).to.equal(1 + 32 + 'Hello, holdfast'.length + 16)
      expect(stored.toString('latin1')).not.to.contain('holdfast')
    } finally {
      await rm(data, { recursive: true })
    }
  })
})

/** Where Linux keeps files in memory, if there is room for what the suite writes. */
function roomInMemory(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    return bavail * bsize > 2 ** 30 ? '/dev/shm' : undefined
  } catch {
    return undefined
  }
}
