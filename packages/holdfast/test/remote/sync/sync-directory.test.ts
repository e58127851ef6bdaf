import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient, type Client } from '@holdfast/client'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { syncDirectory } from '../../../src/remote/sync/sync-directory.ts'
import { noSyncState } from '../../../src/remote/sync/sync-state.ts'

const noServer = createClient({ url: 'http://127.0.0.1:9', name: 'x', password: 'x', retries: 0 })

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
      upload: () => slow.promise,
      stat: async (name) => ({
        name,
        size: 300_000,
        modified: new Date().toISOString(),
        type: 'application/octet-stream',
        etag: '"1"',
      }),
    }
    const summary = await syncDirectory({
      client,
      directory: place.path,
      into: '',
      isDryRun: false,
      mostDeletions: undefined,
      concurrency: 4,
      signal: new AbortController().signal,
      state: noSyncState,
      events: { did: async () => {}, failed: async () => {}, note: () => {}, progress: () => {} },
    })
    expect(summary).to.include({ sent: count + 1, failed: 0 })
  })
})
