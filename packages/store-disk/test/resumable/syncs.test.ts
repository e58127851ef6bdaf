import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { makeTemporaryDirectory, piece } from '@holdfast/testing'
import { expect } from 'chai'
import { openDiskBlobStore } from '../../src/disk-blob-store.ts'
import { interceptFileCalls, replaceSync, type FileCall } from '../file-calls-intercepted.ts'
import { systemError } from '../full-disk.ts'

const blob = { customer: 'alice', name: 'a' }
const plan = { name: 'a', expiresAfterMs: 3_600_000 }

/** Records the syncs and the changes of names, in the order in which they finish. */
async function recordSteps() {
  const steps: string[] = []
  const interception = await interceptFileCalls({
    after(call) {
      if (['sync', 'datasync', 'rename'].includes(call.name)) steps.push(titleOf(call))
    },
  })
  return {
    take: () => steps.splice(0),
    [Symbol.dispose]: () => interception[Symbol.dispose](),
  }
}

function titleOf({ name, path, args }: FileCall): string {
  const paths = name === 'rename' ? [path, String(args[1])] : [path]
  return [name, ...paths.map(nameOf)].join(' ')
}

/** What is at `path`, whatever ids, owners and temporary files are called. */
function nameOf(path: string): string {
  if (path.includes('/data/tmp/')) return 'temporary'
  const name = basename(path).replace(/=.*/, '=owner')
  return /^[0-9a-f]{32}$/.test(name) ? 'upload' : name
}

async function openSite() {
  const place = await makeTemporaryDirectory()
  const store = await openDiskBlobStore({ directory: join(place.path, 'data') })
  // What is made once for a customer.
  await store.put(blob, piece(0, 3))
  await store.resumable.begin('alice', plan)
  return {
    store,
    async [Symbol.asyncDispose]() {
      await store.close()
      await place[Symbol.asyncDispose]()
    },
  }
}

describe('resumable of openDiskBlobStore, before it answers,', () => {
  it('has synced an upload that begins: what is in its directory, and the directory', async () => {
    await using site = await openSite()
    using steps = await recordSteps()
    await site.store.resumable.begin('alice', plan)
    const [first, second, ...rest] = steps.take()
    expect([first, second]).to.deep.equal(['sync temporary', 'sync temporary'])
    expect(rest).to.deep.equal(['rename temporary upload', 'sync alice'])
  })

  it('has synced a piece, and then the name with its offset', async () => {
    await using site = await openSite()
    const { resumable } = site.store
    const { id } = await resumable.begin('alice', { ...plan, length: 20 })
    using steps = await recordSteps()
    await resumable.append({ customer: 'alice', id }, 0, piece(0, 10))
    expect(steps.take()).to.deep.equal([
      'rename bytes-0 bytes-0=owner',
      'datasync bytes-0=owner',
      'rename bytes-0=owner bytes-0+10=owner',
      'sync upload',
      'rename bytes-0+10=owner bytes-10',
    ])
  })

  it('has synced the bytes of a long piece, and the name with its offset at most every 96 MiB or second', async () => {
    await using site = await openSite()
    const { resumable } = site.store
    const { id } = await resumable.begin('alice', plan)
    using steps = await recordSteps()
    const startedAt = performance.now()
    await resumable.append({ customer: 'alice', id }, 0, piece(0, 200 * 1024 ** 2))
    const seconds = (performance.now() - startedAt) / 1000
    const names = steps.take().filter((step) => step === 'sync upload')
    // The first and the last are always there.
    expect(names.length).to.be.within(2, 2 + 2 + Math.floor(seconds))
  }).timeout(60_000)

  for (const [what, kind] of [
    ['the content', 'fdatasync'],
    ['the name with its offset', 'fsync'],
  ] as const) {
    it(`takes no more than 256 MiB while ${what} is not synced`, async () => {
      await using site = await openSite()
      const { resumable } = site.store
      const { id } = await resumable.begin('alice', plan)
      const synced = Promise.withResolvers<undefined>()
      using _ = replaceSync(kind, async (_descriptor, sync) => {
        await synced.promise
        await sync()
      })
      let taken = 0
      async function* content() {
        for await (const chunk of piece(0, 300 * 1024 ** 2)) {
          taken += chunk.length
          yield chunk
        }
      }
      const append = resumable.append({ customer: 'alice', id }, 0, content())
      try {
        // Until no more is taken for a quarter of a second.
        for (let [before, times] = [0, 0]; times < 50; before = taken) {
          await delay(5)
          times = taken > 0 && taken === before ? times + 1 : 0
        }
        expect(taken / 1024 ** 2).to.be.within(200, 256)
      } finally {
        synced.resolve(undefined)
      }
      expect(await append).to.equal(300 * 1024 ** 2)
    }).timeout(60_000)
  }

  it('has synced with the last piece what the blob will be, and then only gives it its name', async () => {
    await using site = await openSite()
    const { resumable } = site.store
    const { id } = await resumable.begin('alice', { ...plan, length: 10 })
    const upload = { customer: 'alice', id }
    using steps = await recordSteps()
    await resumable.append(upload, 0, piece(0, 10))
    const [taken, ...appending] = steps.take()
    expect(taken).to.equal('rename bytes-0 bytes-0=owner')
    expect(appending.splice(0, 2)).to.have.members(['sync bytes-0=owner', 'sync temporary'])
    expect(appending).to.deep.equal([
      'rename bytes-0=owner bytes-0+10=owner',
      'rename temporary upload.json',
      'sync upload',
      'rename bytes-0+10=owner bytes-10',
    ])
    const info = await resumable.publish(upload)
    expect(steps.take()).to.deep.equal([
      'rename bytes-10 bytes-10=owner',
      'rename bytes-10=owner a',
      'sync alice',
      'rename upload.json published.json',
      'sync upload',
    ])
    expect(await site.store.stat(blob)).to.deep.equal(info)
  })

  it('gives a blob that was replaced meanwhile a later time', async () => {
    await using site = await openSite()
    const { resumable } = site.store
    const { id } = await resumable.begin('alice', { ...plan, length: 10 })
    const upload = { customer: 'alice', id }
    await resumable.append(upload, 0, piece(0, 10))
    const between = await site.store.put(blob, piece(0, 5))
    const info = await resumable.publish(upload)
    expect(info.modifiedAt.getTime()).to.be.at.least(between.modifiedAt.getTime())
    expect(await site.store.stat(blob)).to.deep.equal(info)
    expect(await resumable.publish(upload)).to.deep.equal(info)
  })

  for (const [name, reached] of [
    ['open', 10],
    ['write', 10],
    ['sync', 0],
  ] as const) {
    it(`counts ${reached} bytes of the last piece where "${name}" of what the blob will be fails`, async () => {
      await using site = await openSite()
      const { resumable } = site.store
      const { id } = await resumable.begin('alice', { ...plan, length: 10 })
      const upload = { customer: 'alice', id }
      {
        using _ = await interceptFileCalls({
          before(call) {
            if (call.name === name && nameOf(call.path) === 'temporary') {
              throw systemError('EIO', name)
            }
          },
        })
        await resumable.append(upload, 0, piece(0, 10)).catch(() => {})
      }
      expect((await resumable.state(upload))?.offset).to.equal(reached)
      await resumable.append(upload, reached, piece(reached, 10 - reached))
      expect(await resumable.publish(upload)).to.deep.equal(await site.store.stat(blob))
    })
  }
})
