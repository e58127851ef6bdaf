import { join } from 'node:path'
import { credentials, type HoldfastServer, useHoldfast } from '@holdfast/testing'
import { openDiskBlobStore } from '@holdfast/store-disk'
import { expect } from 'chai'

const dayMs = 86_400_000

describe('holdfast serve, with uploads that have expired', function () {
  this.timeout(60_000)
  const holdfast = useHoldfast()
  const { site } = holdfast
  let server: HoldfastServer | undefined

  /** Begins uploads of which all but one expire at once; resolves to the id of that one. */
  const begin = async () => {
    const store = await openDiskBlobStore({ directory: join(site.path, 'data') })
    try {
      const { id } = await store.resumable.begin('demo', { name: 'a', expiresAfterMs: 600_000 })
      for (const name of ['b', 'c']) {
        await store.resumable.begin('demo', { name, expiresAfterMs: 1 })
      }
      return id
    } finally {
      await store.close()
    }
  }
  const idsLeft = async () => {
    const store = await openDiskBlobStore({ directory: join(site.path, 'data') })
    const ids: string[] = []
    for await (const page of store.resumable.list('demo')) ids.push(...page.map(({ id }) => id))
    await store.close()
    return ids
  }

  it('keeps an upload for --upload-expiry after its last byte', async () => {
    server = await holdfast.start(['--upload-expiry', '2d'])
    const before = Date.now()
    const { headers, status } = await fetch(`${server.url}/resumable`, {
      method: 'POST',
      headers: {
        ...credentials,
        'Tus-Resumable': '1.0.0',
        'Upload-Length': '5',
        'Upload-Metadata': `filename ${Buffer.from('a').toString('base64')}`,
      },
    })
    expect(status).to.equal(201)
    const expires = Date.parse(headers.get('upload-expires') ?? '') - 2 * dayMs
    expect(expires).to.be.within(before - 2_000, Date.now() + 2_000)
  })

  for (const flags of [[], ['--workers', '2']]) {
    it(`removes them at the start, once, and logs it: ${flags.join(' ') || 'one process'}`, async () => {
      const id = await begin()
      const serving = await holdfast.start(flags)
      server = serving
      const line = await serving.logged('expired uploads were removed')
      expect(line).to.include({ level: 30, uploads: 2, pid: serving.pid })
      serving.signal('SIGTERM')
      expect(await serving.ended).to.equal(0)
      const swept = serving.lines().filter(({ msg }) => String(msg).includes('uploads'))
      expect(swept).to.have.length(1)
      expect(await idsLeft()).to.deep.equal([id])
    })
  }
})
