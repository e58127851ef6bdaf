import { expect } from 'chai'
import type { DiskBlobStore } from '../../src/disk-blob-store.ts'
import { collect } from '../collect.ts'
import { contentOf, expectMeaning, meanings, openFaultSite, text } from './fault-site.ts'

const key = { customer: 'alice', name: 'report.pdf' }

/** Several reads long. */
const content = 'x'.repeat(600_000)

interface Work {
  readonly title: string
  readonly run: (store: DiskBlobStore) => Promise<unknown>
  /** The calls that may fail, each with the first that does. */
  readonly calls: readonly (readonly [call: string, nth?: number])[]
}

const works: readonly Work[] = [
  {
    title: 'open',
    run: (store) => contentOf(store, key),
    calls: [['open blob'], ['stat blob'], ['read blob'], ['read blob', 2]],
  },
  { title: 'stat', run: (store) => store.stat(key), calls: [['lstat blob']] },
  {
    title: 'list',
    run: (store) => collect(store.list('alice')),
    calls: [['opendir customer'], ['readdir customer'], ['readdir customer', 2]],
  },
  {
    title: 'usage',
    run: (store) => store.usage('alice'),
    calls: [['opendir customer'], ['readdir customer'], ['readdir customer', 2], ['lstat blob']],
  },
  {
    title: 'customers',
    run: (store) => collect(store.customers()),
    calls: [['opendir files'], ['readdir files'], ['readdir files', 2]],
  },
]

/** Runs into each error of the system at each of the calls; `check` then looks at the store. */
async function failEach(work: Work, check: (store: DiskBlobStore) => Promise<void>) {
  await using site = await openFaultSite()
  let faults = 0
  for (const [call, nth = 1] of work.calls) {
    for (const code of Object.keys(meanings)) {
      await site.store.put(key, text(content))
      const fault = { call, code, nth }
      expectMeaning(await site.fail(fault, () => work.run(site.store)), fault)
      await check(site.store)
      faults++
    }
  }
  return faults
}

describe('A store on a failing disk', () => {
  let faults = 0
  after(() => console.log(`figures: faults of the disk beside puts: ${faults} injected, all told`))

  for (const work of works) {
    it(`takes no failure of ${work.title} for absence or an end, and works again`, async () => {
      faults += await failEach(work, async (store) => {
        await work.run(store)
      })
    })
  }

  it('keeps a blob that it fails to delete', async () => {
    const calls = [['lstat blob'], ['open customer'], ['unlink blob']] as const
    const work: Work = { title: 'delete', run: (store) => store.delete(key), calls }
    faults += await failEach(work, async (store) => {
      expect(await contentOf(store, key)).to.equal(content)
      expect(await store.delete(key)).to.equal(true)
    })
  })

  it('never says of a blob that it is gone where that may not have reached the disk', async () => {
    const calls = [['sync customer'], ['close customer']] as const
    const work: Work = { title: 'delete', run: (store) => store.delete(key), calls }
    faults += await failEach(work, async (store) => {
      // By then there is nothing to delete, and nobody is told that there was.
      expect(await store.delete(key)).to.equal(false)
    })
  })
})
