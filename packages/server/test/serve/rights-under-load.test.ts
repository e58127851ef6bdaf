import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { runHoldfast, until, useHoldfast, type HoldfastServer } from '@holdfast/testing'
import { expect } from 'chai'

const secret = 'a password of eight'
const may = { full: 'full', readOnly: '[list, read]' } as const

describe('holdfast serve, whose customers file changes while files are stored,', function () {
  this.timeout(60_000)
  const holdfast = useHoldfast()

  const write = (rights: string) =>
    holdfast.site.write(
      'customers.yaml',
      `customers:\n  - name: demo\n    password: ${secret}\n    logins:\n      - name: ci\n        password: ${secret}\n        may: ${rights}\n`,
    )

  const asLogin = (name: string) => ({ 'x-auth-name': name, 'x-auth-password': secret })
  const put = async ({ url }: HoldfastServer, name: string) => {
    const answer = await fetch(`${url}/upload/${name}`, {
      method: 'PUT',
      headers: asLogin('demo/ci'),
      body: name,
    })
    await answer.text()
    return answer.status
  }

  /** The status of an upload by a connection of its own. */
  const probe = async ({ url }: HoldfastServer) => {
    const options = { method: 'PUT', headers: asLogin('demo/ci'), agent: false }
    const sent = request(`${url}/upload/probe`, options).end('probe')
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    await text(answer)
    return answer.statusCode
  }

  for (const workers of [1, 2]) {
    it(`stores exactly what it says OK to, with ${workers} worker(s)`, async () => {
      await write(may.full)
      const server = await holdfast.start(['--workers', String(workers)])
      const statuses = new Map<string, number>()
      /** What the requests that begin now must be answered with; `undefined` while the change is under way. */
      let wanted: number | undefined
      const wrong: string[] = []
      let judged = 0
      let isEnding = false
      const client = async (id: number) => {
        for (let count = 0; !isEnding; count++) {
          const name = `${id}-${count}`
          const expected = wanted
          const status = await put(server, name)
          statuses.set(name, status)
          // Whoever begins before a change and ends after it may get either answer.
          if (expected === undefined || expected !== wanted) continue
          judged++
          if (status !== expected) wrong.push(`${name}: ${status} instead of ${expected}`)
        }
      }
      const clients = Promise.all(Array.from({ length: 8 }, (_, id) => client(id)))
      for (let round = 0; round < 6; round++) {
        wanted = undefined
        await write(round % 2 === 0 ? may.readOnly : may.full)
        server.signal('SIGHUP')
        await server.logged('customers reloaded', round + 1)
        // Workers learn of it after the primary. A new connection may reach any of them.
        const status = round % 2 === 0 ? 403 : 200
        for (let seen = 0; seen < 20;) {
          seen = (await probe(server)) === status ? seen + 1 : 0
        }
        wanted = status
        const before = judged
        await until('requests were judged', () => judged > before + 20)
      }
      isEnding = true
      await clients
      expect(wrong).to.deep.equal([])
      const stored = [...statuses].filter(([, status]) => status === 200).map(([name]) => name)
      const refused = [...statuses.values()].filter((status) => status !== 200)
      expect(new Set(refused)).to.deep.equal(new Set([403]))
      const listed = await fetch(`${server.url}/list`, { headers: asLogin('demo') })
      const names = ((await listed.json()) as string[]).filter((name) => name !== 'probe')
      expect(names.toSorted()).to.deep.equal(stored.toSorted())
      const { code } = await runHoldfast(['customers', 'check'], { cwd: holdfast.site.path })
      expect(code).to.equal(0)
    })
  }
})
