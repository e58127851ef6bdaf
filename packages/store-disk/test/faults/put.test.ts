import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { findLitter } from '../disk-harness.ts'
import { interceptFileCalls } from '../file-calls-intercepted.ts'
import {
  contentOf,
  expectMeaning,
  expectNoLitter,
  figures,
  meanings,
  openFaultSite,
  text,
  type FaultSite,
} from './fault-site.ts'
import { injectFault, type Fault } from './injected-fault.ts'

const key = { customer: 'alice', name: 'report.pdf' }

const preparing = [
  'open temporary',
  'write temporary',
  'utimes temporary',
  'sync temporary',
  'stat temporary',
  'close temporary',
]

interface Put {
  readonly title: string
  readonly createOnly?: boolean
  readonly isNewCustomer?: boolean
  /** Everything that may fail before the content has its name; afterwards only the directory's sync and close may. */
  readonly calls: readonly string[]
}

const puts: readonly Put[] = [
  { title: 'that replaces', calls: [...preparing, 'open customer', 'rename temporary'] },
  {
    title: 'that creates only',
    createOnly: true,
    calls: ['lstat blob', ...preparing, 'open customer', 'link temporary'],
  },
  {
    title: 'of a new customer',
    isNewCustomer: true,
    calls: [...preparing, 'open files', 'mkdir customer', 'sync files', 'close files'],
  },
]

const named = ['sync customer', 'close customer']

/** Brings the store to where the put begins, and resolves with the content that there is. */
async function prepare({ store, data }: FaultSite, { createOnly, isNewCustomer }: Put) {
  await rm(join(data, 'files', isNewCustomer ? 'alice' : 'alice/report.pdf'), {
    recursive: true,
    force: true,
  })
  if (createOnly || isNewCustomer) return undefined
  await store.put(key, text('old'))
  return 'old'
}

async function expectFailure(site: FaultSite, put: Put, fault: Fault): Promise<void> {
  const { store, data } = site
  const title = `${fault.call}: ${fault.code}`
  const old = await prepare(site, put)
  const options = { createOnly: put.createOnly ?? false }
  const error = await site.fail(fault, () => store.put(key, text('new'), options))
  expectMeaning(error, fault)
  const expected = named.includes(fault.call) ? 'new' : old
  expect(await contentOf(store, key), title).to.equal(expected)
  await expectNoLitter(data, title)
  await store.put(key, text('next'))
  expect(await contentOf(store, key), title).to.equal('next')
}

describe('put on a failing disk', () => {
  after(() =>
    console.log(
      `figures: faults of the disk at a put: ${figures.faults} injected, none told as OK`,
    ),
  )

  for (const put of puts) {
    for (const call of [...put.calls, ...(put.isNewCustomer ? [] : named)]) {
      const outcome = named.includes(call) ? 'the new content unacknowledged' : 'what was there'
      for (const whereabouts of ['here', 'anywhere'] as const) {
        it(`${whereabouts}, ${put.title} keeps ${outcome} where "${call}" fails, and works again`, async () => {
          await using site = await openFaultSite(whereabouts)
          for (const code of Object.keys(meanings)) await expectFailure(site, put, { call, code })
        })
      }
    }
  }

  for (const size of [3, 2_000_000]) {
    it(`keeps what was there where the disk takes a part of ${size} bytes, and no more`, async () => {
      await using site = await openFaultSite()
      const { store, data } = site
      await store.put(key, text('old'))
      const content = () => text('x'.repeat(size))
      for (const code of ['ENOSPC', 'EIO']) {
        const fault = { call: 'write temporary', code, nth: 2 }
        const error = await site.fail(fault, async () => {
          using _short = await writeInParts()
          await store.put(key, content())
        })
        expectMeaning(error, fault)
        expect(await contentOf(store, key)).to.equal('old')
        await expectNoLitter(data, code)
      }
      using _short = await writeInParts()
      await store.put(key, content())
      expect(await contentOf(store, key)).to.equal('x'.repeat(size))
    })
  }

  it('keeps what was there where a sync fails while the content still comes', async () => {
    await using site = await openFaultSite()
    const { store, data } = site
    await store.put(key, text('old'))
    for (const code of Object.keys(meanings)) {
      const fault = { call: 'datasync temporary', code }
      expectMeaning(await site.fail(fault, () => store.put(key, text('x'.repeat(70e6)))), fault)
      expect(await contentOf(store, key), code).to.equal('old')
      await expectNoLitter(data, code)
    }
    await store.put(key, text('next'))
    expect(await contentOf(store, key)).to.equal('next')
  })

  it('makes the directory of a customer anew where it may not have reached the disk', async () => {
    await using site = await openFaultSite()
    const { store, data } = site
    await site.fail({ call: 'sync files', code: 'EIO' }, () => store.put(key, text('new')))
    using again = await injectFault(data, { call: 'mkdir customer', code: 'EIO' })
    await store.put(key, text('new')).catch(() => {})
    expect(again.hits()).to.equal(1)
  })

  it('removes with the next put what it could not remove before', async () => {
    await using site = await openFaultSite()
    const { store, data } = site
    {
      using _kept = await injectFault(data, { call: 'unlink temporary', code: 'EROFS' })
      const fault = { call: 'sync temporary', code: 'EIO' }
      expectMeaning(await site.fail(fault, () => store.put(key, text('new'))), fault)
      await store.put(key, text('created'), { createOnly: true })
      expect(await findLitter(data)).to.have.length(2)
    }
    await store.put(key, text('next'))
    await expectNoLitter(data, 'after the next put')
  })
})

/** Has the system write a third of what it is given. */
async function writeInParts(): Promise<Disposable> {
  return interceptFileCalls({
    before({ name, args }) {
      const [, bytes] = args
      if (name !== 'write' || !(bytes instanceof Uint8Array)) return
      args[1] = bytes.subarray(0, Math.ceil(bytes.length / 3))
    },
  })
}
