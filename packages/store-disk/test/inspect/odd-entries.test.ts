import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { faults, found, inspect, makeUsedDirectory } from './inspected.ts'

const run = promisify(execFile)

describe('inspectDataDirectory on odd entries', () => {
  it('reports links, pipes, directories and names that are none', async () => {
    await using place = await makeUsedDirectory()
    await symlink('a', join(place.alice, 'link'))
    await run('mkfifo', [join(place.alice, 'pipe')])
    await mkdir(join(place.alice, 'directory'))
    await writeFile(Buffer.concat([Buffer.from(`${place.alice}/`), Buffer.from([0xff])]), '')
    await writeFile(join(place.path, 'files', 'stray'), '')
    const findings = await inspect(place.path)
    const [fault, ...others] = faults(findings)
    expect(others).to.deep.equal([])
    expect([fault?.check, fault?.mark]).to.deep.equal(['foreign entries', 'warning'])
    expect(fault?.message).to.match(/^5, such as .*: no file of holdfast, and not shown$/)
    const { stdout } = await run('sh', ['-c', (fault?.remedies[0] ?? '').replace(/^.*: /, '')])
    expect(stdout).to.match(/link -> a$/m)
    expect(found(findings, 'files')?.message).to.match(/^3 file\(s\) of 2 customer/)
  })

  it('reports files from the future, and how to bring them back', async () => {
    await using place = await makeUsedDirectory()
    const future = new Date(Date.now() + 86_400_000)
    await utimes(join(place.alice, 'a'), future, future)
    const [fault] = faults(await inspect(place.path))
    expect(fault?.message).to.match(/alice\/a changed in the future, by its time/)
    await run('sh', ['-c', fault?.remedies[0] ?? ''])
    expect(faults(await inspect(place.path))).to.deep.equal([])
  })

  it('reports a customer, and a tmp, on another file system', async () => {
    await using place = await makeUsedDirectory()
    const elsewhere = await mkdtemp('/dev/shm/holdfast-')
    await symlink(elsewhere, join(place.path, 'files', 'carol'))
    await rm(join(place.path, 'tmp'), { recursive: true })
    await symlink(elsewhere, join(place.path, 'tmp'))
    const findings = await inspect(place.path)
    await rm(elsewhere, { recursive: true })
    expect(found(findings, 'one disk')?.message).to.match(/carol on another file system than/)
    expect(found(findings, 'one mount')?.message).to.match(
      /has several file systems \(.*\/dev\/shm.*\); uploads cannot be moved/,
    )
    expect(findings.map(({ mark }) => mark)).to.include('problem')
  })
})
