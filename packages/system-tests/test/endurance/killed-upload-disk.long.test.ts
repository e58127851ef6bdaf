// It kills a server fifty times within one upload.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { findFreePort } from '@holdfast/testing'
import { openDiskBlobStore } from '@holdfast/store-disk'
import { createSite, startHoldfastByShell } from '@holdfast/testing'
import { expect } from 'chai'
import { fileName, killAmidUpload } from './broken-line/kill-amid-upload.ts'
import { killSize } from './broken-line/kill-size.ts'
import { withSeed } from './with-seed.ts'

const dayMs = 86_400_000

describe('holdfast serve --workers, killed fifty times within one upload to disk', () => {
  it('has it whole in the end, over a line that breaks it, and nothing else', async function () {
    this.timeout(900_000)
    const site = await createSite()
    const data = join(site.path, 'data')
    // Port 0 would become another one when both workers are dead at once.
    const serve = `holdfast serve --workers 2 --port ${await findFreePort()}`
    try {
      await withSeed(async (seed) => {
        const { growthMiB, figures } = await killAmidUpload({
          ...{ seed, length: killSize(), kills: 50 },
          start: () => startHoldfastByShell(serve, { cwd: site.path }),
        })
        console.log(`figures: killed upload to disk: ${figures}, seed ${seed}`)
        expect(growthMiB, 'MiB beyond the idle process').to.be.below(150)
        const store = await openDiskBlobStore({ directory: data })
        await store.resumable.sweep(new Date(Date.now() + 30 * dayMs))
        await store.close()
        const left = await readdir(data, { recursive: true, withFileTypes: true })
        const files = left.filter((entry) => entry.isFile()).map(({ name }) => name)
        expect(files.sort()).to.deep.equal(['holdfast.json', fileName])
        expect(await readdir(join(data, 'tmp'))).to.deep.equal([])
      })
    } finally {
      await site.remove()
    }
  })
})
