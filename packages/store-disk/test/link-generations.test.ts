import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { truncate } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { makeTemporaryDirectory, openFilesIn } from '@holdfast/testing'
import type { LinkGenerations } from '@holdfast/core'
import { expect } from 'chai'
import { openDiskBlobStore } from '../src/disk-blob-store.ts'
import { findLitter } from './disk-harness.ts'
import { expectMeaning, expectNoLitter, meanings, openFaultSite } from './faults/fault-site.ts'
import { interceptFileCalls } from './file-calls-intercepted.ts'

function generationsOf({ linkGenerations }: { linkGenerations?: LinkGenerations }) {
  if (linkGenerations) return linkGenerations
  throw new Error('There are no generations')
}

/** Opens the store in `directory`, reads the generation of alice, and closes the store. */
async function readAnew(directory: string): Promise<string> {
  const store = await openDiskBlobStore({ directory })
  const generation = await generationsOf(store).read('alice')
  await store.close()
  return generation
}

describe('linkGenerations of openDiskBlobStore', function () {
  this.timeout(60_000)

  it('have synced the generation and then its name when a renewal resolves', async () => {
    await using place = await makeTemporaryDirectory()
    const store = await openDiskBlobStore({ directory: join(place.path, 'data') })
    const steps: string[] = []
    {
      using _ = await interceptFileCalls({
        after({ name, path }) {
          if (!['write', 'sync', 'mkdir', 'rename'].includes(name)) return
          steps.push(`${name} ${path.includes('/data/tmp/') ? 'temporary' : basename(path)}`)
        },
      })
      await generationsOf(store).renew('alice')
    }
    expect(steps).to.deep.equal([
      'write temporary',
      'sync temporary',
      'mkdir links',
      'sync data',
      'mkdir alice',
      'sync links',
      'rename temporary',
      'sync alice',
    ])
    await store.close()
  })

  const kept = ['temporary-made', 'content-written', 'content-synced', 'temporary-closed']
  for (const step of [...kept, 'named', 'name-synced']) {
    it(`are one or the other, whole, of a process that is killed after ${step}`, async () => {
      await using place = await makeTemporaryDirectory()
      const directory = join(place.path, 'data')
      const store = await openDiskBlobStore({ directory })
      const before = await generationsOf(store).renew('alice')
      await store.close()
      const script = join(import.meta.dirname, 'children', 'renew-and-die.ts')
      const child = spawn(process.execPath, [script, directory, step], { stdio: 'inherit' })
      expect((await once(child, 'exit'))[1]).to.equal('SIGKILL')
      const after = await readAnew(directory)
      if (kept.includes(step)) expect(after).to.equal(before)
      else
        expect(after)
          .to.match(/^[0-9a-f]{32}$/)
          .and.not.equal(before)
      expect(await findLitter(directory)).to.deep.equal([])
    })
  }

  it('stay, without litter, where a renewal fails before the name', async () => {
    await using site = await openFaultSite()
    const generations = generationsOf(site.store)
    const before = await generations.renew('alice')
    for (const call of [
      'open temporary',
      'write temporary',
      'sync temporary',
      'rename temporary',
    ]) {
      for (const code of Object.keys(meanings)) {
        const fault = { call, code }
        expectMeaning(await site.fail(fault, () => generations.renew('alice')), fault)
        expect(await generations.read('alice'), `${call}: ${code}`).to.equal(before)
        await expectNoLitter(site.data, `${call}: ${code}`)
      }
    }
    expect(await generations.renew('alice')).not.to.equal(before)
  })

  it('are never the first one because they cannot be read', async () => {
    await using site = await openFaultSite()
    const generations = generationsOf(site.store)
    const before = await generations.renew('alice')
    for (const call of ['open generation', 'read generation']) {
      for (const code of Object.keys(meanings)) {
        const fault = { call, code }
        expectMeaning(await site.fail(fault, () => generations.read('alice')), fault)
        expect(await generations.read('alice')).to.equal(before)
      }
    }
    const path = join(site.data, 'links', 'alice', 'generation')
    await truncate(path, 0)
    const refusal = await generations.read('alice').catch((error: unknown) => error)
    expect(refusal)
      .to.be.an('error')
      .with.property('message', `${path} is damaged: remove it and end the links again`)
    expect(await openFilesIn(site.data)).to.deep.equal([])
    await generations.renew('alice')
    expect(await generations.read('alice')).not.to.equal('')
  })
})
