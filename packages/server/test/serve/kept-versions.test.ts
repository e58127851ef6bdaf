import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { credentials, scrape, until, useHoldfast } from '@holdfast/testing'
import { expect } from 'chai'

describe('holdfast serve, which keeps what is replaced,', function () {
  this.timeout(60_000)
  const holdfast = useHoldfast()

  /** Stores a file three times, and resolves with the status of each. */
  const replace = async (url: string) => {
    const statuses: number[] = []
    for (const body of ['one', 'two', 'three']) {
      const init = { method: 'PUT', headers: credentials, body }
      statuses.push((await fetch(`${url}/upload/a`, init)).status)
    }
    return statuses
  }
  const versionsOf = async (url: string) => {
    const answer = await fetch(`${url}/versions/a`, { headers: credentials })
    return (await answer.json()) as readonly { readonly size: number }[]
  }

  for (const workers of ['1', '2']) {
    it(`keeps it, and counts it after the next start, with ${workers} worker(s)`, async () => {
      const flags = ['--workers', workers, '--keep-replaced', '30d', '--admin-port', '0']
      const first = await holdfast.start(flags)
      expect(await replace(first.url)).to.deep.equal([200, 200, 200])
      expect((await versionsOf(first.url)).map(({ size }) => size)).to.deep.equal([3, 3])
      first.signal('SIGTERM')
      await first.ended
      const server = await holdfast.start(flags)
      await until('it is counted', async () => {
        const counted = (await scrape(server)).samples('holdfast_kept_bytes')
        return counted.reduce((sum, { value }) => sum + value, 0) === 6
      })
    })

    it(`removes it when the disk is full, and records that, with ${workers} worker(s)`, async () => {
      const trail = join(holdfast.site.path, 'audit.jsonl')
      const server = await holdfast.start([
        ...['--workers', workers, '--keep-replaced', '30d', '--audit-log', trail],
        ...['--min-free-space', '1000TB'],
      ])
      await replace(server.url)
      await until('it is removed', async () => (await versionsOf(server.url)).length === 0)
      await server.logged('versions were removed to make room')
      await until('it is recorded', async () => {
        const events = (await readFile(trail, 'utf8')).trim().split('\n')
        const purged = events
          .map((line) => JSON.parse(line) as { readonly event: string; readonly versions: number })
          .filter(({ event }) => event === 'purge')
        return purged.reduce((sum, { versions }) => sum + versions, 0) === 2
      })
      const served = await fetch(`${server.url}/serve/a`, { headers: credentials })
      expect(await served.text()).to.equal('three')
    })
  }

  it('removes nothing for an upload that is refused for its announced length', async () => {
    const server = await holdfast.start(['--keep-replaced', '30d'])
    await replace(server.url)
    const begun = await fetch(`${server.url}/resumable`, {
      method: 'POST',
      headers: {
        ...credentials,
        'Tus-Resumable': '1.0.0',
        'Upload-Length': '9000000000000000',
        'Upload-Metadata': 'filename eA==',
      },
    })
    expect(begun.status).to.equal(507)
    for (let n = 0; n < 20; n++) expect(await versionsOf(server.url)).to.have.length(2)
  })

  it('removes what was kept once that is off', async () => {
    const first = await holdfast.start(['--keep-replaced', '30d'])
    await replace(first.url)
    first.signal('SIGTERM')
    await first.ended
    const second = await holdfast.start(['--keep-replaced', 'off'])
    await second.logged('outdated versions were removed')
    const hidden = await fetch(`${second.url}/deleted`, { headers: credentials })
    expect(hidden.status).to.equal(404)
    second.signal('SIGTERM')
    await second.ended
    const third = await holdfast.start(['--keep-replaced', '30d'])
    expect(await versionsOf(third.url)).to.deep.equal([])
  })
})
