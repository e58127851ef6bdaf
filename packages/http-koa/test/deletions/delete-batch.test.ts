import { createMemoryBlobStore } from '@holdfast/core/memory'
import { exchange, openConnection, until } from '@holdfast/testing'
import { expect } from 'chai'
import { collectAudit, event } from '../support/collected-audit.ts'
import { expectError } from '../support/expect-error.ts'
import { customerRequest } from '../support/request.ts'
import { runApp } from '../support/running-app.ts'

const batch = (names: readonly string[]) =>
  customerRequest('POST', '/delete/batch', {}, JSON.stringify(names))
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `file ${index}`)
const nextTick = () => new Promise((resolve) => void setImmediate(resolve))

/** A store that says which names it was asked to delete, and waits before it does so. */
function createSlowStore(before: (name: string) => Promise<unknown>) {
  const store = createMemoryBlobStore()
  const begun: string[] = []
  const slowStore: typeof store = {
    ...store,
    async delete(key) {
      begun.push(key.name)
      await before(key.name)
      return store.delete(key)
    },
  }
  return { store: slowStore, begun }
}

async function fill(app: Awaited<ReturnType<typeof runApp>>, names: readonly string[]) {
  for (const name of names) await app.files.upload(name, new Uint8Array(1))
}

describe('POST /delete/batch', () => {
  it('deletes eight files at a time, and answers in the order of the names', async () => {
    const names = numbered(30)
    const eight = Promise.withResolvers<undefined>()
    let underWay = 0
    let most = 0
    const { store, begun } = createSlowStore(async () => {
      most = Math.max(most, ++underWay)
      if (begun.length === 8) eight.resolve(undefined)
      await eight.promise
      await nextTick()
      underWay--
    })
    await using app = await runApp({ store })
    await fill(app, names)
    const { body } = await exchange(app.port, batch(names))
    const deleted = [...body.matchAll(/"filename":"([^"]*)","statusCode":200/g)]
    expect(deleted.map(([, name]) => name)).to.deep.equal(names)
    expect(most).to.equal(8)
  })

  it('deletes equal names one after the other', async () => {
    let underWay = 0
    const { store } = createSlowStore(async () => {
      expect(++underWay).to.equal(1)
      await nextTick()
      underWay--
    })
    await using app = await runApp({ store })
    await fill(app, ['a'])
    const { body } = await exchange(app.port, batch(['a', 'a', 'a']))
    const statuses = [...body.matchAll(/"statusCode":(\d+)/g)].map(([, status]) => status)
    expect(statuses).to.deep.equal(['200', '400', '400'])
  })

  it('answers a line as soon as its file is gone, while others are not', async () => {
    const gate = Promise.withResolvers<undefined>()
    const { store } = createSlowStore(async (name) => {
      if (name === 'b') await gate.promise
    })
    await using app = await runApp({ store })
    await fill(app, ['a', 'b'])
    using connection = await openConnection(app.port)
    connection.write(batch(['a', 'b']))
    await connection.saw('{"filename":"a","statusCode":200,"message":"OK"}\n')
    expect(await app.names()).to.deep.equal(['b'])
    gate.resolve(undefined)
    await connection.saw('{"filename":"b","statusCode":200,"message":"OK"}\n')
  })

  it('begins no further deletion when the client leaves; those under way are recorded', async () => {
    const gate = Promise.withResolvers<undefined>()
    const { store, begun } = createSlowStore(() => gate.promise)
    const { audit, events } = collectAudit()
    await using app = await runApp({ store, audit })
    const names = numbered(100)
    await fill(app, names)
    using connection = await openConnection(app.port)
    connection.write(batch(names))
    await until('deletions are under way', () => begun.length === 8)
    connection.reset()
    await until('the server has noticed', async () => (await app.connections()) === 0)
    gate.resolve(undefined)
    await until('the deletions are recorded', () => events.length === 8)
    await nextTick()
    expect(begun).to.have.length(8)
    expect(await app.names()).to.have.length(92)
    expect(events.every(({ outcome }) => outcome === 'ok')).to.equal(true)
  })

  it('has one line in the audit trail for each name, and one for a body that is refused', async () => {
    const trail = collectAudit()
    await using app = await runApp({ audit: trail.audit })
    await fill(app, ['a', 'b'])
    await exchange(app.port, batch(['a', '..', 'none', 'b']))
    await exchange(app.port, customerRequest('POST', '/delete/batch', {}, '{}'))
    const refused = { event: 'delete', outcome: 'refused' } as const
    expect(trail.stable()).to.deep.equal([
      event({ event: 'delete', file: 'a' }),
      event({ ...refused, reason: 'invalid-file-name', file: '..' }),
      event({ ...refused, reason: 'not-found', file: 'none' }),
      event({ event: 'delete', file: 'b' }),
      event({ ...refused, reason: 'invalid-field' }),
    ])
  })

  it('is answered 500 where the trail fails at the first name, and ends with a line later', async () => {
    let calls = 0
    const failAt = (nth: number) => async () => {
      if (++calls === nth) throw new Error('The trail is full')
    }
    for (const nth of [1, 3]) {
      calls = 0
      await using app = await runApp({ audit: failAt(nth) })
      await fill(app, numbered(20))
      const answer = await exchange(app.port, batch(numbered(20)))
      if (nth === 1) {
        expectError(answer)
        expect(answer.status).to.equal(500)
        // No further deletion begins.
        expect((await app.names()).length).to.be.at.least(12)
        continue
      }
      const lines = answer.body.trimEnd().split('\n')
      expect(lines).to.have.length(3)
      expect(lines[2]).to.equal(
        '{"statusCode":500,"error":"Internal Server Error","message":"An unexpected error occurred"}',
      )
    }
  })
})
