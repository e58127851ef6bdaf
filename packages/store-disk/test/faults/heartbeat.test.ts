import { readdir, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { openDiskBlobStore } from '../../src/disk-blob-store.ts'
import { injectFault } from './injected-fault.ts'

const interval = 20_000

describe('The heartbeat of a store', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setInterval'] }))
  afterEach(() => mock.timers.reset())

  it('on a read-only disk is missed aloud once, and again when it had come back', async () => {
    await using place = await makeTemporaryDirectory()
    const warnings: string[] = []
    const log = { warn: (message: string) => void warnings.push(message) }
    const store = await openDiskBlobStore({ directory: place.path, log })
    const [own = ''] = await readdir(join(place.path, 'tmp'))
    const directory = join(place.path, 'tmp', own)
    for (const expected of [1, 2]) {
      {
        using fault = await injectFault(place.path, { call: 'utimes temporary', code: 'EROFS' })
        while (fault.hits() < 3) await beat()
      }
      expect(warnings).to.have.length(expected)
      expect(warnings.at(-1)).to.include('Cannot write the heartbeat of').and.include('EROFS')
      await utimes(directory, 0, 0)
      while ((await stat(directory)).mtimeMs === 0) await beat()
    }
    await store.close()
  })
})

async function beat(): Promise<void> {
  mock.timers.tick(interval)
  for (let count = 0; count < 10; count++) await setImmediate()
}
