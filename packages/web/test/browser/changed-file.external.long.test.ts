import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import type { BlobStore } from '@holdfast/core'
import { makeTemporaryDirectory } from '@holdfast/testing'
import type { OpenBrowser } from '@holdfast/testing/browsers'
import { expect } from 'chai'
import { describeInBrowsers } from './describe-in-browsers.ts'
import { openDriver } from './page-driver.ts'
import { runPage } from './running-page.ts'

const changed = 'The file was changed or moved since it was chosen.'
const size = 17 * 1024 * 1024

/** A store that waits for `release` before it takes more than the first chunk of an upload in pieces. */
function stallingStore() {
  const memory = createMemoryBlobStore()
  const { resumable } = memory
  if (!resumable) throw new Error('The memory store keeps uploads in pieces')
  const [begun, released] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
  async function* stalled(content: AsyncIterable<Uint8Array>) {
    for await (const chunk of content) {
      yield chunk
      begun.resolve(undefined)
      await released.promise
    }
  }
  const store: BlobStore = {
    ...memory,
    resumable: {
      ...resumable,
      append: (key, offset, content, options) =>
        resumable.append(key, offset, stalled(content), options),
    },
  }
  return { store, begun: begun.promise, release: () => released.resolve(undefined) }
}

const tests = (browser: () => OpenBrowser) => {
  it('is not stored as a mixture of what it was and what it is', async () => {
    await using place = await makeTemporaryDirectory()
    const { store, begun, release } = stallingStore()
    await using server = await runPage(store)
    const { signIn, choose, reads, page } = await openDriver(browser(), server.url)
    await signIn()
    const path = join(place.path, 'film.bin')
    await writeFile(path, Buffer.alloc(size, 1))
    await choose('Upload', path)
    await begun
    await writeFile(path, Buffer.alloc(size, 2), { flag: 'r+' })
    release()
    await reads(changed)
    expect(await store.stat({ customer: 'anna', name: 'film.bin' })).to.equal(undefined)
    await page.close()
  })

  it('is not stored as an empty one, where the browser cannot read it', async () => {
    await using server = await runPage()
    const { signIn, choose, reads, names } = await openDriver(browser(), server.url)
    await signIn()
    await choose('Upload', '/nonexistent/of-another-machine.txt')
    await reads(changed)
    expect(await names()).to.deep.equal([])
  })
}

describeInBrowsers('A file that changes while the page sends it', tests, { names: ['chromium'] })
