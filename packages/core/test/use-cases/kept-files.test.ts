import { expect } from 'chai'
import { createFileService, type FileServiceOptions } from '../../src/file-service.ts'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import type { Customer } from '../../src/model/customer.ts'
import type { Restored } from '../../src/model/file-hooks.ts'
import type { CustomerFiles } from '../../src/use-cases/customer-files.ts'
import { arrayOf, chunks, textOf } from '../content.ts'
import { refusal } from '../rejection.ts'

const hour = 3_600_000
const day = 24 * hour

/** A service on a memory store, both with a clock that a test moves on. */
function start(options: Partial<FileServiceOptions> = { keepReplacedMs: 30 * day }) {
  let time = 1_000_000_000_000
  const store = createMemoryBlobStore(() => new Date(time))
  const service = createFileService({ store, now: () => time, ...options })
  const purge = async (customer: Customer) => service.purgeKept?.(customer)
  return { store, service, purge, pass: (ms: number) => (time += ms) }
}

function historyOf({ history }: CustomerFiles) {
  if (!history) throw new TypeError('The memory store has a history')
  return history
}

const versionsOf = async (files: CustomerFiles, name: string) =>
  (await arrayOf(historyOf(files).versions(name))).flat()

const sizesOf = async (files: CustomerFiles, name: string) =>
  (await versionsOf(files, name)).map(({ size }) => size)

describe('the history of a customer', () => {
  it('has what uploads, deletions, renames and pieces have taken away', async () => {
    const files = start().service.filesOf({ name: 'alice' })
    await files.upload('a', chunks(1))
    await files.upload('a', chunks(2))
    await files.delete('a')
    await files.upload('b', chunks(3))
    await files.upload('c', chunks(4))
    await files.rename?.('b', 'c')
    const upload = await files.resumable?.begin('c', { length: 5 })
    await files.resumable?.append(upload?.id ?? '', 0, chunks(5))
    expect(await sizesOf(files, 'a')).to.deep.equal([2, 1])
    expect(await sizesOf(files, 'b')).to.deep.equal([])
    expect(await sizesOf(files, 'c')).to.deep.equal([3, 4])
    const deleted = (await arrayOf(historyOf(files).deleted())).flat()
    expect(deleted.map(({ name, size }) => [name, size])).to.deep.equal([['a', 2]])
  })

  it('has what has expired', async () => {
    const { service, pass } = start()
    const alice = { name: 'alice', expireAfterMs: 30 * day }
    const files = service.filesOf(alice)
    await files.upload('a', chunks(7))
    for (let hours = 0; hours <= 24 * 32; hours++) {
      pass(hour)
      await service.expireFiles?.(alice)
    }
    expect(await refusal(files.stat('a'))).to.equal('not-found')
    expect(await sizesOf(files, 'a')).to.deep.equal([7])
  })

  it('keeps nothing unless the service or the customer asks for it', async () => {
    for (const [options, customer, isKept] of [
      [{}, { name: 'alice' }, false],
      [{}, { name: 'alice', keepReplacedMs: day }, true],
      [{ keepReplacedMs: day }, { name: 'alice', keepReplacedMs: 0 }, false],
      [{ keepReplacedMs: 0 }, { name: 'alice' }, false],
    ] as const) {
      const files = start(options).service.filesOf(customer)
      await files.upload('a', chunks(1))
      await files.upload('a', chunks(2))
      await files.delete('a')
      if (isKept) expect(await sizesOf(files, 'a')).to.deep.equal([2, 1])
      else expect(files).not.to.have.property('history')
    }
  })

  it('serves a version, and refuses what is none', async () => {
    const files = start().service.filesOf({ name: 'alice' })
    await files.upload('a', chunks('old'))
    await files.upload('a', chunks('new'))
    const [kept] = await versionsOf(files, 'a')
    const version = kept?.version ?? ''
    const history = historyOf(files)
    expect(await textOf((await history.serve('a', version)).content)).to.equal('old')
    for (const wrong of ['', '.', '..', '../a', 'x'.repeat(201), 'é', '0', `${version}\n`]) {
      expect(await refusal(history.serve('a', wrong)), wrong).to.equal('version-not-found')
      expect(await refusal(history.restore('a', { version: wrong })), wrong).to.equal(
        'version-not-found',
      )
    }
    expect(await refusal(history.serve('..', version))).to.equal('invalid-file-name')
    expect(() => history.versions('..')).to.throw()
    expect(() => history.versions('a', { limit: 0 })).to.throw(RangeError)
    expect(() => history.deleted({ limit: 0.5 })).to.throw(RangeError)
    expect(() => history.versions('a', { before: '../a' })).to.throw(
      RangeError,
      'before is not a version',
    )
  })

  it('restores the last version unless another one is asked for, and calls the hook', async () => {
    const calls: Restored[] = []
    const { service } = start({
      keepReplacedMs: day,
      hooks: { onRestored: (restored) => calls.push(restored) },
    })
    const files = service.filesOf({ name: 'alice' })
    for (const size of [1, 2, 3]) await files.upload('a', chunks(size))
    await files.delete('a')
    const history = historyOf(files)
    expect((await history.restore('a')).size).to.equal(3)
    const oldest = (await versionsOf(files, 'a')).at(-1)
    const info = await history.restore('a', { version: oldest?.version ?? '', as: 'b' })
    expect(info).to.include({ name: 'b', size: 1 })
    expect(await refusal(history.restore('a', { as: 'b', createOnly: true }))).to.equal(
      'already-exists',
    )
    expect(await refusal(history.restore('none'))).to.equal('version-not-found')
    expect(await refusal(history.restore('a', { as: '..' }))).to.equal('invalid-file-name')
    expect(calls.map(({ from, file, version }) => [from, file.name, version])).to.deep.equal([
      ['a', 'a', undefined],
      ['a', 'b', oldest?.version],
    ])
  })

  it('counts a restored file in the quota, and never what is kept', async () => {
    const files = start().service.filesOf({ name: 'alice', quota: 10, maxFiles: 2 })
    for (let turn = 0; turn < 5; turn++) await files.upload('a', chunks(6))
    await files.upload('b', chunks(4))
    expect(await refusal(historyOf(files).restore('a', { as: 'c' }))).to.equal('quota-exceeded')
    await files.delete('b')
    expect(await refusal(historyOf(files).restore('a', { as: 'c' }))).to.equal('quota-exceeded')
    expect((await historyOf(files).restore('b')).size).to.equal(4)
    expect((await historyOf(files).restore('a')).size).to.equal(6)
    expect(await files.usage()).to.deep.include({ files: 2, bytes: 10 })
    expect(await refusal(files.upload('b', chunks(5)))).to.equal('quota-exceeded')
  })

  it('shows in the usage what is kept', async () => {
    const { service } = start()
    const files = service.filesOf({ name: 'alice' })
    for (const size of [1, 2, 3]) await files.upload('a', chunks(size))
    expect((await files.usage()).kept).to.deep.equal({ versions: 2, bytes: 3 })
    const off = service.filesOf({ name: 'alice', keepReplacedMs: 0 })
    expect(await off.usage()).not.to.have.property('kept')
  })

  it('is absent where the store has none', () => {
    const { history: _, ...store } = createMemoryBlobStore()
    const service = createFileService({ store, keepReplacedMs: day })
    expect(service.filesOf({ name: 'alice' })).not.to.have.property('history')
    expect(service).not.to.have.property('purgeKept')
  })

  it('refuses times for which nothing can be kept', async () => {
    for (const keepReplacedMs of [1, 59_999, -1, NaN, 1e15]) {
      expect(() => start({ keepReplacedMs })).to.throw(RangeError)
      const { service } = start({})
      expect(() => service.filesOf({ name: 'alice', keepReplacedMs })).to.throw(RangeError)
    }
  })
})

describe('purgeKept', () => {
  const none = { blobs: 0, bytes: 0 }

  it('removes what was replaced longer ago than it is kept, and leaves the rest', async () => {
    const { service, purge, pass } = start()
    const alice = { name: 'alice' }
    const files = service.filesOf(alice)
    await files.upload('a', chunks(1))
    pass(20 * day)
    await files.upload('a', chunks(2))
    pass(29 * day)
    await files.upload('a', chunks(3))
    expect(await purge(alice)).to.deep.include({ outdated: none, surplus: none })
    pass(2 * day)
    const outcome = await purge(alice)
    expect(outcome).to.deep.equal({
      outdated: { blobs: 1, bytes: 1 },
      surplus: none,
      kept: { blobs: 1, bytes: 2 },
    })
    expect(await sizesOf(files, 'a')).to.deep.equal([2])
    pass(365 * day)
    await purge(alice)
    expect(await sizesOf(files, 'a')).to.deep.equal([])
    expect((await files.stat('a')).size).to.equal(3)
  })

  it('removes the oldest where more is kept than the quota', async () => {
    const { service, purge, pass } = start()
    const alice = { name: 'alice', quota: 100 }
    const files = service.filesOf(alice)
    for (let size = 20; size < 30; size++) {
      await files.upload(`${size % 3}`, chunks(size))
      pass(hour)
      await files.delete(`${size % 3}`)
      pass(hour)
    }
    const outcome = await purge(alice)
    expect(outcome?.kept.bytes).to.equal(27 + 28 + 29)
    expect(outcome?.surplus.blobs).to.equal(7)
    const left = await Promise.all(['0', '1', '2'].map((name) => sizesOf(files, name)))
    expect(left.flat().toSorted()).to.deep.equal([27, 28, 29])
  })

  it('has a limit of its own if the service says so', async () => {
    const { service, purge, pass } = start({ keepReplacedMs: day, keepQuota: 50 })
    const alice = { name: 'alice', quota: 1000 }
    const files = service.filesOf(alice)
    for (let turn = 0; turn < 5; turn++) {
      await files.upload('a', chunks(20))
      pass(2000)
    }
    expect((await purge(alice))?.kept).to.deep.equal({ blobs: 2, bytes: 40 })
  })

  it('removes all where nothing is kept any more, and nothing where no one has said so', async () => {
    const { service, purge, pass } = start({})
    const files = service.filesOf({ name: 'alice', keepReplacedMs: day })
    await files.upload('a', chunks(1))
    await files.delete('a')
    pass(100 * day)
    expect(await purge({ name: 'alice' })).to.deep.include({ kept: { blobs: 1, bytes: 1 } })
    expect(await purge({ name: 'alice', keepReplacedMs: 0 })).to.deep.include({ kept: none })
  })

  it('sums periods that are too many to be distinguished', async () => {
    const { service, purge, pass } = start({ keepReplacedMs: 30 * day, keepQuota: 1000 })
    const alice = { name: 'alice' }
    const files = service.filesOf(alice)
    for (let turn = 0; turn < 5000; turn++) {
      await files.upload('a', chunks(1))
      pass(2000)
    }
    const outcome = await purge(alice)
    expect(outcome?.kept.bytes).to.be.within(990, 1000)
  })
})

describe('what is kept beyond a limit, after a long time', () => {
  /** Five thousand small files that were replaced over a month, and then a hundred at once. */
  async function startLong() {
    const started = start({ keepReplacedMs: 60 * day, keepQuota: 60_000 })
    const alice = { name: 'alice' }
    const files = started.service.filesOf(alice)
    for (let turn = 0; turn < 5000; turn++) {
      await files.upload('a', chunks(1))
      started.pass(500_000)
    }
    for (let turn = 0; turn < 100; turn++) {
      await files.upload('b', chunks(1000))
      started.pass(100)
    }
    return { ...started, alice, files }
  }

  it('goes no further than the limit, also where most of it was replaced at once', async () => {
    const { purge, alice } = await startLong()
    expect((await purge(alice))?.kept.bytes).to.be.within(59_000, 60_000)
  })

  it('goes no further than the room that is needed', async () => {
    const { service, alice } = await startLong()
    const removed = (await service.freeKept?.(20_000))?.get(alice.name)
    expect(removed?.bytes).to.be.within(20_000, 21_000)
  })
})

describe('freeKept', () => {
  it('removes the oldest of all customers, no more than needed', async () => {
    const { service, pass } = start()
    for (let turn = 0; turn < 10; turn++) {
      const files = service.filesOf({ name: turn % 2 ? 'alice' : 'bob' })
      await files.upload('a', chunks(10))
      pass(hour)
      await files.delete('a')
      pass(hour)
    }
    const removed = await service.freeKept?.(25)
    expect([...(removed ?? [])]).to.have.deep.members([
      ['bob', { blobs: 2, bytes: 20 }],
      ['alice', { blobs: 1, bytes: 10 }],
    ])
    const all = await service.freeKept?.(Infinity)
    expect(all?.get('alice')).to.deep.equal({ blobs: 4, bytes: 40 })
    expect(await service.freeKept?.(100)).to.deep.equal(new Map())
  })
})
