import { createFileService, type History } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { createSite, runHoldfast, type Site } from '@holdfast/testing'
import { openDiskBlobStore } from '@holdfast/store-disk'
import { expect } from 'chai'
import { join } from 'node:path'
import { measureOlder, removeVersions } from '../src/purge-versions.ts'

/** A store in which alice has replaced a file at the times 0, 10 and 20 s, and bob one at 5 s. */
async function open(): Promise<History> {
  let time = 0
  const store = createMemoryBlobStore(() => new Date(time))
  const service = createFileService({ store, keepReplacedMs: 60_000 })
  const put = async (name: string, at: number, size: number) => {
    time = at
    await service.filesOf({ name }).upload('a', new Uint8Array(size))
  }
  await put('alice', -1_000, 1)
  await put('bob', -1_000, 100)
  await put('alice', 0, 2)
  await put('bob', 5_000, 100)
  await put('alice', 10_000, 3)
  await put('alice', 20_000, 4)
  if (store.history === undefined) throw new Error('The memory store keeps')
  return store.history
}

const customers = ['alice', 'bob']

async function all<Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}

describe('removeVersions', () => {
  it('removes what was replaced before a time, and says how much of whom', async () => {
    const history = await open()
    const before = new Date(10_000)
    const older = { blobs: 2, bytes: 101 }
    expect(await measureOlder(history, customers, before)).to.deep.equal(older)
    expect(await all(removeVersions(history, customers, before))).to.deep.equal([
      ['alice', { blobs: 1, bytes: 1 }],
      ['bob', { blobs: 1, bytes: 100 }],
      ['in all', older],
    ])
    expect(await measureOlder(history, customers, before)).to.deep.equal({ blobs: 0, bytes: 0 })
    const rest = { blobs: 2, bytes: 5 }
    expect(await measureOlder(history, customers, new Date(30_000))).to.deep.equal(rest)
  })

  it('has no sum for one customer, unless nothing was removed', async () => {
    const history = await open()
    const remove = () => all(removeVersions(history, ['alice'], new Date('9999-12-31')))
    expect(await remove()).to.deep.equal([['alice', { blobs: 3, bytes: 6 }]])
    expect(await remove()).to.deep.equal([['in all', { blobs: 0, bytes: 0 }]])
  })
})

describe('holdfast versions purge', function () {
  this.timeout(60_000)
  let site: Site
  before(async () => {
    site = await createSite()
    await (await openDiskBlobStore({ directory: join(site.path, 'data') })).close()
  })
  after(() => site.remove())

  const refused: Readonly<Record<string, readonly [args: readonly string[], message: string]>> = {
    'neither a time nor --all': [[], 'Say either --before TIME, such as --before 30d, or --all.'],
    'a time and --all': [['--before', '1d', '--all'], 'Say either --before TIME'],
    'a time that is none': [['--before', 'soon'], '--before "soon" is not a time; write it as in'],
    'a name that is none': [['--all', '--customer', 'a/b'], '--customer "a/b" is not a valid name'],
    'a missing directory': [['--all', '--data', 'none'], 'is not the data directory'],
  }
  for (const [what, [args, message]] of Object.entries(refused)) {
    it(`refuses ${what}`, async () => {
      const { code, stderr } = await runHoldfast(['versions', 'purge', ...args], { cwd: site.path })
      expect(stderr).to.include(message)
      expect(code).to.equal(1)
    })
  }
})
