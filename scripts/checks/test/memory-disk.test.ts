import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'

const module = JSON.stringify(join(import.meta.dirname, '../memory-disk.ts'))

/** What a process prints whose temporary files lie in `temporary`. */
async function printed(script: string, temporary: string): Promise<unknown> {
  const node = [
    '--input-type=module',
    '--eval',
    `import { mountMemoryDisk } from ${module}\n${script}`,
  ]
  const env = { ...process.env, TMPDIR: temporary }
  const { stdout } = await promisify(execFile)(process.execPath, node, { env })
  return JSON.parse(stdout)
}

describe('mountMemoryDisk', () => {
  let temporary: string

  beforeEach(() => {
    temporary = mkdtempSync(join(tmpdir(), 'holdfast-memory-'))
  })

  afterEach(() => rmSync(temporary, { recursive: true }))

  it('mounts an empty ext4 disk that ends with the process, where it may and there is memory', async () => {
    const script = `import { execFileSync } from 'node:child_process'
      import { readdirSync, writeFileSync } from 'node:fs'
      const path = mountMemoryDisk(8 * 1024 ** 3)
      const kind = path && String(execFileSync('stat', ['--file-system', '--format=%T', path])).trim()
      const entries = path && readdirSync(path)
      if (path) writeFileSync(path + '/file', 'content')
      console.log(JSON.stringify({ path, kind, entries }))`
    const found = (await printed(script, temporary)) as { readonly path?: string }
    if (found.path === undefined) return
    expect(found).to.deep.include({ kind: 'ext2/ext3', entries: [] })
    expect(found.path.startsWith(join(temporary, 'holdfast-memory-disk-'))).to.equal(true)
    expect(existsSync(join(found.path, '..'))).to.equal(false)
  })

  it('mounts nothing where memory is scarce', async () => {
    const script = 'console.log(JSON.stringify(mountMemoryDisk(7 * 1024 ** 3) ?? null))'
    expect(await printed(script, temporary)).to.equal(null)
  })

  it('removes what a killed run has left, and nothing of a running one', async () => {
    // No process has a number that high.
    const [dead, alive] = [4_194_305, process.pid].map((pid) =>
      join(temporary, `holdfast-memory-disk-${pid}-abcdef`),
    )
    for (const place of [dead, alive]) mkdirSync(place ?? '')
    await printed('console.log(JSON.stringify(mountMemoryDisk(0) ?? null))', temporary)
    expect([dead, alive].map((place) => existsSync(place ?? ''))).to.deep.equal([false, true])
  })
})
