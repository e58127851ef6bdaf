import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createClient, HoldfastError, type Client } from '@holdfast/client'
import { makeTemporaryDirectory, rejection } from '@holdfast/testing'
import { expect } from 'chai'
import { syncDirectory } from '../../../src/remote/sync/sync-directory.ts'
import type { SyncPlan } from '../../../src/remote/sync/sync-plan.ts'
import { noSyncState, type SyncState } from '../../../src/remote/sync/sync-state.ts'
import { usualPlan } from './support/sync-site.ts'

const noServer = createClient({ url: 'http://127.0.0.1:9', name: 'x', password: 'x', retries: 0 })

const details = {
  size: 300_000,
  modified: new Date(0).toISOString(),
  type: 'application/octet-stream',
  etag: '"1"',
}
const plan: Omit<SyncPlan, 'client' | 'directory'> = {
  ...usualPlan,
  state: noSyncState,
  events: { did: async () => {}, failed: async () => {}, note: () => {}, progress: () => {} },
}

describe('syncDirectory', function () {
  this.timeout(120_000)

  it('sends more files than may wait for a slow one', async () => {
    await using place = await makeTemporaryDirectory()
    const count = 10_020
    await writeFile(join(place.path, 'a'), new Uint8Array(300_000))
    for (let at = 0; at < count; at++) await writeFile(join(place.path, `b${at}`), '')
    const slow = Promise.withResolvers<undefined>()
    let sent = 0
    const client: Client = {
      ...noServer,
      async *listDetails() {},
      async *uploadMany(files) {
        for await (const { name } of files) {
          if (++sent === 9_999) slow.resolve(undefined)
          yield { name, error: undefined }
        }
      },
      async upload() {
        await slow.promise
        return { etag: undefined }
      },
    }
    const summary = await syncDirectory({ ...plan, client, directory: place.path })
    expect(summary).to.include({ sent: count + 1, failed: 0 })
  })

  it('remembers the entity tag of the upload, and not that of what another client has stored since', async () => {
    await using place = await makeTemporaryDirectory()
    await writeFile(join(place.path, 'large'), new Uint8Array(300_000))
    for (const name of ['small', 'unsaid']) await writeFile(join(place.path, name), 'own')
    const theirs = [
      { ...details, name: 'large', etag: '"his"' },
      ...['small', 'unsaid'].map((name) => ({ ...details, name, size: 3, etag: '"his"' })),
    ]
    let isStored = false
    const client: Client = {
      ...noServer,
      async *listDetails() {
        if (isStored) yield* theirs
      },
      async *uploadMany(files) {
        for await (const { name } of files) {
          yield { name, error: undefined, etag: name === 'small' ? '"own"' : undefined }
        }
        isStored = true
      },
      upload: async () => ({ etag: '"own"' }),
      stat: async () => theirs[0]!,
    }
    const kept: Record<string, string> = {}
    const state: SyncState = {
      ...noSyncState,
      add: async ({ name, etag }) => void (kept[name] = etag),
    }
    await syncDirectory({ ...plan, client, directory: place.path, state })
    expect(kept).to.deep.equal({ large: '"own"', small: '"own"' })
  })

  it('says which file was refused, where another one has no result', async () => {
    await using place = await makeTemporaryDirectory()
    for (const name of ['a', 'b']) await writeFile(join(place.path, name), '')
    const client: Client = {
      ...noServer,
      async *listDetails() {},
      async *uploadMany(files) {
        for await (const { name } of files) {
          if (name === 'b') yield { name, error: new Error('Refused') }
        }
        throw new Error('The line broke')
      },
    }
    const refused: string[] = []
    const events = { ...plan.events, failed: async (path: string) => void refused.push(path) }
    const run = syncDirectory({ ...plan, events, client, directory: place.path })
    expect(await rejection(run)).to.include({ message: 'The line broke' })
    expect(refused).to.deep.equal(['b'])
  })

  it('sends each file alone where something on the way refuses them together, and names what it refuses', async () => {
    await using place = await makeTemporaryDirectory()
    for (const name of ['.env', 'a', 'b']) await writeFile(join(place.path, name), name)
    const refusal = new HoldfastError('unknown', 'A proxy refuses this request', { status: 403 })
    const stored: string[] = []
    const client: Client = {
      ...noServer,
      async *listDetails() {},
      async *uploadMany() {
        throw refusal
      },
      async upload(name) {
        if (name === '.env') throw refusal
        stored.push(name)
        return { etag: '"1"' }
      },
    }
    const failed: string[] = []
    const events = { ...plan.events, failed: async (path: string) => void failed.push(path) }
    const summary = await syncDirectory({ ...plan, events, client, directory: place.path })
    expect(stored).to.deep.equal(['a', 'b'])
    expect(failed).to.deep.equal(['.env'])
    expect(summary).to.include({ failed: 1 })
  })

  for (const [what, isRefused, end] of [
    ['ends where something on the way refuses all', () => true, 'refused'],
    ['goes on where it refuses every other one', (at: number) => at % 2 === 0, 'whole'],
  ] as const) {
    it(what, async () => {
      await using place = await makeTemporaryDirectory()
      const refusal = new HoldfastError('unknown', 'A proxy refuses this request', { status: 403 })
      const size = 300_000
      for (let at = 10; at < 60; at++) {
        await writeFile(join(place.path, `${at}`), new Uint8Array(size))
      }
      let failed = 0
      const client: Client = {
        ...noServer,
        async *listDetails() {},
        async upload(name) {
          if (isRefused(Number(name))) throw refusal
          return { etag: '"1"' }
        },
      }
      const events = { ...plan.events, failed: async () => void failed++ }
      const run = syncDirectory({ ...plan, concurrency: 1, events, client, directory: place.path })
      const ended = await run.then(
        () => 'whole',
        (error: unknown) => (error === refusal ? 'refused' : error),
      )
      expect(ended).to.equal(end)
      expect(failed).to.equal(end === 'whole' ? 25 : 19)
    })
  }

  it('remembers of what it cannot read what was known, and replaces what is remembered', async () => {
    await using place = await makeTemporaryDirectory()
    const noUtf8 = Buffer.from([...Buffer.from(join(place.path, 'x')), 0xff])
    await writeFile(noUtf8, '')
    const client: Client = {
      ...noServer,
      async *listDetails() {
        for (const name of ['new', 'same']) yield { ...details, name }
      },
    }
    const record = { size: 300_000, version: '1', sha256: '' }
    const known = [
      { ...record, name: 'gone', etag: '"1"' },
      { ...record, name: 'new', etag: '"0"' },
      { ...record, name: 'same', etag: '"1"' },
    ]
    const kept: string[] = []
    const endings: string[] = []
    const state: SyncState = {
      ...noSyncState,
      records: [Readable.from(known)],
      add: async ({ name }) => void kept.push(name),
      close: async (how) => void endings.push(how),
    }
    const summary = await syncDirectory({ ...plan, client, directory: place.path, state })
    expect(summary).to.include({ sent: 0, failed: 1 })
    expect(kept).to.deep.equal(['same'])
    expect(endings).to.deep.equal(['replace'])
  })
})
