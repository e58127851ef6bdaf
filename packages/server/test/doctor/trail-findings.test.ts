import { execFile } from 'node:child_process'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createSite, type Site } from '@holdfast/testing'
import { expect } from 'chai'
import { trailFindings } from '../../src/doctor/examine.ts'
import { resolveConfig } from '../../src/index.ts'

describe('trailFindings', () => {
  let site: Site
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(() => site.remove())

  const told = async (path?: string) => {
    const lines: string[] = []
    const config = resolveConfig({ flags: path === undefined ? {} : { 'audit-log': path } })
    for await (const { mark, message } of trailFindings(config)) lines.push(`${mark}: ${message}`)
    return lines
  }

  it('says nothing where there is to be no trail', async () => {
    expect(await told()).to.deep.equal([])
  })

  it('is content with a file that is there or can be made, and makes and changes none', async () => {
    const missing = join(site.path, 'audit.jsonl')
    expect(await told(missing)).to.deep.equal([`ok: ${missing} can be written`])
    expect(await readdir(site.path)).to.deep.equal(['customers.yaml'])
    const there = await site.write('there.jsonl', '{}\n')
    const before = await stat(there)
    expect(await told(there)).to.deep.equal([`ok: ${there} can be written`])
    const { size, mtimeMs } = await stat(there)
    expect({ size, mtimeMs }).to.deep.equal({ size: before.size, mtimeMs: before.mtimeMs })
  })

  it('is content with standard output, and with a pipe, which it does not open', async () => {
    expect(await told('-')).to.deep.equal(['ok: - can be written'])
    const pipe = join(site.path, 'pipe')
    await promisify(execFile)('mkfifo', [pipe])
    expect(await told(pipe)).to.deep.equal([`ok: ${pipe} can be written`])
  })

  for (const [title, path, remedy] of [
    ['in a directory that is missing', 'none/audit.jsonl', 'ENOENT.*; make its directory first'],
    ['that is a directory', '.', 'EISDIR.*; name a file in that directory'],
  ] as const) {
    it(`refuses a file ${title}`, async () => {
      const refusal = await told(join(site.path, path)).catch((error: unknown) => error)
      expect(refusal).to.be.an('error').with.property('name', 'SetupError')
      expect(String(refusal)).to.match(new RegExp(`cannot be written \\(uid \\d+: .*${remedy}`))
    })
  }
})
