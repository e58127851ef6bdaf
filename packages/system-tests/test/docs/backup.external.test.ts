import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openDiskBlobStore } from '@holdfast/store-disk'
import { createSite, type Site, contentOf, putText } from '@holdfast/testing'
import { expect } from 'chai'
import { shellBlocks } from './shell-blocks.ts'

describe('The command in docs/back-up.md, "Back up"', () => {
  const [backup, ...others] = shellBlocks('docs/back-up.md').filter(({ script }) =>
    script.startsWith('rsync'),
  )
  let site: Site
  beforeEach(async () => {
    site = await createSite()
  })
  afterEach(() => site.remove())

  it('copies all files while a store is open, into what is a store', async () => {
    expect(others).to.deep.equal([])
    const target = join(site.path, 'backup')
    await mkdir(target)
    const script = (backup?.script ?? '').replace('/mnt/backup/holdfast/', `${target}/`)
    expect(script).to.include(target)
    const store = await openDiskBlobStore({ directory: join(site.path, 'data') })
    await putText(store, 'alice', 'kept.txt', 'kept')
    await putText(store, 'bob', 'über 100%.txt', '')
    const run = () => promisify(execFile)('bash', ['-euc', script], { cwd: site.path })
    await run()
    await putText(store, 'alice', 'later.txt', 'later')
    await store.delete({ customer: 'alice', name: 'kept.txt' })
    await run()
    const expected = await contentOf(store)
    await store.close()

    const restored = await openDiskBlobStore({ directory: target })
    expect(await contentOf(restored)).to.deep.equal(expected)
    await restored.close()
  })
})
