import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { credentials, until, useHoldfast } from '@holdfast/testing'
import { expect } from 'chai'

const hour = 3_600_000

describe('holdfast serve, for a customer whose files expire,', function () {
  this.timeout(60_000)
  const holdfast = useHoldfast()

  /** Starts a server whose rule was set three days ago, with a file of yesterday and one of today. */
  async function start(...args: readonly string[]) {
    const { site } = holdfast
    const customers = await readFile(join(site.path, 'customers.yaml'), 'utf8')
    await site.write('customers.yaml', `${customers.trimEnd()}\n    expireAfter: 12h\n`)
    const files = join(site.path, 'data/files/demo')
    const first = await holdfast.start()
    for (const name of ['old', 'new']) {
      const init = { method: 'PUT', headers: credentials, body: name }
      expect((await fetch(`${first.url}/upload/${name}`, init)).status).to.equal(200)
    }
    await until('the rule is noted', async () => {
      const note = await readFile(join(site.path, 'data/expiry/demo/rule'), 'utf8').catch(() => '')
      return note.startsWith('1 43200000 ')
    })
    await until('it is announced', () => first.output().includes('files will expire'))
    first.signal('SIGTERM')
    await first.ended
    const yesterday = new Date(Date.now() - 24 * hour)
    await utimes(join(files, 'old'), yesterday, yesterday)
    const [since, seen] = [Date.now() - 72 * hour, Date.now() - hour]
    await mkdir(join(site.path, 'data/expiry/demo'), { recursive: true })
    await writeFile(join(site.path, 'data/expiry/demo/rule'), `1 43200000 ${since} ${seen}\n`)
    return { server: await holdfast.start(args) }
  }

  const list = async (url: string) =>
    (await (await fetch(`${url}/list`, { headers: credentials })).json()) as string[]

  for (const workers of ['1', '2']) {
    it(`deletes what is too old, and records it, with ${workers} worker(s)`, async () => {
      const trail = join(holdfast.site.path, 'audit.jsonl')
      const { server } = await start('--workers', workers, '--audit-log', trail)
      await until('it is gone', async () => (await list(server.url)).length === 1)
      expect(await list(server.url)).to.deep.equal(['new'])
      await until('it is recorded', async () => (await readFile(trail, 'utf8')).includes('expire'))
      const events = (await readFile(trail, 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter(({ event }) => event === 'expire')
      expect(events).to.have.length(1)
      expect(events[0]).to.include({ outcome: 'ok', customer: 'demo', file: 'old', bytes: 3 })
      expect(server.output()).to.include('files expired')
    })
  }

  it('says in the list when each file will go', async () => {
    const { server } = await start()
    await until('it is gone', async () => (await list(server.url)).length === 1)
    const details = await fetch(`${server.url}/list?details=1`, { headers: credentials })
    const [file] = (await details.json()) as { modified: string; expires: string }[]
    const { modified = '', expires = '' } = file ?? {}
    expect(Date.parse(expires) - Date.parse(modified)).to.equal(12 * hour)
  })
})
