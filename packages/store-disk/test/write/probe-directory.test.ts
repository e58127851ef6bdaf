import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readdirSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import type { DiskCrashPoint } from '../../src/files/crash-point.ts'
import { collect } from '../collect.ts'
import { expectMeaning, expectNoLitter, openFaultSite, text } from '../faults/fault-site.ts'

/** What is below `directory` at each step that `work` takes, as paths. */
async function watchSteps(directory: string, work: () => Promise<unknown>) {
  const seen = new Map<DiskCrashPoint, readonly string[]>()
  const look = (step: unknown) =>
    void seen.set(
      step as DiskCrashPoint,
      readdirSync(directory, { recursive: true, encoding: 'utf8' }),
    )
  subscribe('holdfast:store-disk:step', look)
  try {
    await work()
  } finally {
    unsubscribe('holdfast:store-disk:step', look)
  }
  return seen
}

describe('DiskBlobStore.probe', () => {
  it('takes the steps of a durable put and a deletion', async () => {
    await using site = await openFaultSite()
    const seen = await watchSteps(site.data, () => site.store.probe())
    expect([...seen.keys()]).to.deep.equal([
      'temporary-made',
      'content-ended',
      'content-written',
      'content-synced',
      'temporary-closed',
      'named',
      'name-synced',
      'name-removed',
      'removal-synced',
    ] satisfies DiskCrashPoint[])
  })

  it('is seen by no customer at any step, and leaves nothing', async () => {
    await using site = await openFaultSite()
    await site.store.put({ customer: 'alice', name: 'a' }, text('a'))
    const before = readdirSync(site.data, { recursive: true, encoding: 'utf8' })
    const seen = await watchSteps(site.data, () => site.store.probe())
    for (const [step, paths] of seen) {
      const ours = paths.filter((path) => !before.includes(path))
      for (const path of ours) expect(path, step).to.match(/^tmp\/[^/]+\/[^/]+$/)
    }
    expect(seen.get('name-synced')).to.have.length(before.length + 1)
    expect(readdirSync(site.data, { recursive: true })).to.have.members(before)
    expect(await collect(site.store.customers())).to.deep.equal(['alice'])
    await expectNoLitter(site.data, 'a probe')
  })

  it('may be done several times at once', async () => {
    await using site = await openFaultSite()
    await Promise.all(Array.from({ length: 8 }, () => site.store.probe()))
    await expectNoLitter(site.data, 'a probe')
  })

  for (const [call, code] of [
    ['access files', 'EROFS'],
    ['access files', 'EACCES'],
    ['open temporary', 'EMFILE'],
    ['write temporary', 'ENOSPC'],
    ['sync temporary', 'EIO'],
    ['rename temporary', 'EIO'],
    ['readFile temporary', 'EIO'],
    ['unlink temporary', 'EACCES'],
  ] as const) {
    it(`fails when ${call} fails with ${code}`, async () => {
      await using site = await openFaultSite()
      const error = await site.fail({ call, code }, () => site.store.probe())
      expectMeaning(error, { call, code })
      await site.store.probe()
      await expectNoLitter(site.data, 'a probe')
    })
  }

  it('fails when the directory is gone, and works again when it is back', async () => {
    await using site = await openFaultSite()
    await rename(join(site.data, 'files'), join(site.data, 'away'))
    const error: unknown = await site.store.probe().catch((reason: unknown) => reason)
    expect(error).to.have.property('code', 'store-unavailable')
    await rename(join(site.data, 'away'), join(site.data, 'files'))
    await site.store.probe()
  })

  it('goes with free space as the file system reports it', async () => {
    await using site = await openFaultSite()
    expect(await site.store.freeSpace()).to.be.above(0)
  })
})
