import { execFile } from 'node:child_process'
import { chmod, chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Finding } from '@holdfast/core'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { faults, found, inspect, makeUsedDirectory } from './inspected.ts'

const run = promisify(execFile)
const script = join(import.meta.dirname, '..', 'children', 'inspect.ts')

describe('inspectDataDirectory, of permissions', () => {
  /** By somebody whom permissions bind, root or not. */
  const inspectBound = async (directory: string) => {
    const isRoot = process.getuid?.() === 0
    const command = [
      ...(isRoot ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : []),
      process.execPath,
      script,
      directory,
    ]
    const { stdout } = await run('env', command)
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Finding)
  }

  for (const name of ['files', 'links', 'expiry']) {
    it(`says which one is missing for ${name}, and does no more`, async () => {
      await using place = await makeUsedDirectory()
      const directory = join(place.path, name)
      await mkdir(directory, { recursive: true })
      await chmod(directory, 0o500)
      const [fault, skipped, ...others] = faults(await inspectBound(place.path))
      await chmod(directory, 0o750)
      expect([fault?.check, fault?.mark]).to.deep.equal(['permissions', 'problem'])
      const uid = process.getuid?.()
      expect(fault?.message).to.equal(
        `uid ${uid} may not read, write and enter ${directory}; it belongs to uid ${uid}, mode 0500`,
      )
      expect(fault?.remedies).to.deep.equal([
        `chown -R ${uid} ${directory} && chmod u+rwx ${directory}`,
      ])
      expect(skipped?.mark).to.equal('skipped')
      expect(others).to.deep.equal([])
    })
  }

  it('says where a directory cannot be made', async () => {
    await using place = await makeTemporaryDirectory()
    await chmod(place.path, 0o500)
    const [fault] = faults(await inspectBound(join(place.path, 'data')))
    expect(fault?.message).to.match(/^nothing can be made in .*data: Error: EACCES/)
    expect(fault?.remedies[0]).to.match(/^mkdir -p .*data && chown \d+ .*data$/)
  })

  it('reports files and customers that this user may not read, and not write', async () => {
    await using place = await makeUsedDirectory()
    await chmod(join(place.alice, 'a'), 0)
    await chmod(join(place.path, 'files', 'bob'), 0o500)
    const findings = await inspectBound(place.path)
    expect(found(findings, 'reading')?.message).to.match(/alice\/a not readable for this user/)
    expect(found(findings, 'writing')?.message).to.match(/bob not writable for this user/)
    await run('sh', ['-c', found(findings, 'reading')?.remedies[0] ?? ''])
    expect(faults(await inspectBound(place.path))).to.deep.equal([])
  })

  it('reports what every user may change, and may look into', async () => {
    await using place = await makeUsedDirectory()
    await chmod(place.path, 0o755)
    expect(faults(await inspect(place.path))).to.deep.equal([])
    await chmod(join(place.path, 'files'), 0o755)
    const [readable] = faults(await inspect(place.path))
    expect([readable?.check, readable?.mark]).to.deep.equal(['privacy', 'warning'])
    expect(readable?.message).to.match(/may look into .*files \(mode 0755\)$/)
    await chmod(place.path, 0o777)
    const [writable] = faults(await inspect(place.path))
    expect(writable?.mark).to.equal('problem')
    expect(writable?.message).to.match(/^every user .* may replace what is in .* \(mode 0777\)$/)
    await run('sh', ['-c', writable?.remedies[0] ?? ''])
    expect(faults(await inspect(place.path))).to.deep.equal([])
  })

  it('says to root that the rights of the directory’s owner were not tried, and of other owners', async function () {
    await using place = await makeUsedDirectory()
    if (process.getuid?.() !== 0) {
      // Nobody else can give files away, and nobody else is told so.
      expect(found(await inspect(place.path), 'user')).to.equal(undefined)
      return
    }
    await run('chown', ['-R', '12345', place.path])
    await chown(join(place.alice, 'a'), 0, 0)
    const findings = await inspect(place.path)
    expect(found(findings, 'user')?.message).to.match(/^root may .* belongs to uid 12345, and/)
    expect(found(findings, 'user')?.remedies[0]).to.include("sudo -u '#12345' holdfast doctor")
    expect(found(findings, 'owners')?.message).to.match(/alice\/a of another owner than/)
    expect(found(findings, 'owners')?.remedies[0]).to.match(/^chown -R 12345 .*files$/)
  })
})
