import { expect } from 'chai'
import { createDeletedList } from '../../page/history/deleted-list.ts'
import { fakeConnection, settled } from './fake-connection.ts'

describe('createDeletedList', () => {
  it('lists what was deleted last first, with the time and the version of each', async () => {
    const { list, asked, loaded } = open()
    await asked[0]!.answer(Response.json([deleted('a', 1), deleted('b', 3), deleted('c', 2)]))
    await loaded
    expect(list.status.value).to.equal('complete')
    expect(list.visible.value.map(({ name }) => name)).to.deep.equal(['b', 'c', 'a'])
    expect(list.all.value[0]).to.include({ version: 'v-b', modified: timeOf(3) })
    list.filter.value = 'C'
    expect(list.visible.value.map(({ name }) => name)).to.deep.equal(['c'])
  })

  it('leaves out what was restored while it was loaded, also from the selection', async () => {
    const { list, asked, loaded } = open()
    list.selected.value = new Set(['a', 'b', 'gone'])
    list.remove('a')
    await asked[0]!.answer(Response.json([deleted('a', 1), deleted('b', 2)]))
    await loaded
    expect(list.all.value.map(({ name }) => name)).to.deep.equal(['b'])
    expect([...list.selected.value]).to.deep.equal(['b'])
  })

  it('says why it could not be loaded, and forgets all when it is closed', async () => {
    const { list, asked, loaded } = open()
    await asked[0]!.fail(503, 'Storage unavailable')
    await loaded
    expect(list.status.value).to.have.property('error')
    const again = list.load()
    await settled()
    await asked[1]!.answer(Response.json([deleted('a', 1)]))
    await again
    list.close()
    expect(list.all.value).to.deep.equal([])
  })
})

function open() {
  const { connection, asked } = fakeConnection()
  const list = createDeletedList(connection)
  return { list, asked, loaded: list.load() }
}

const timeOf = (day: number) => `2026-11-0${day}T04:05:06.789Z`

const deleted = (name: string, day: number) => ({
  name,
  version: `v-${name}`,
  size: 1,
  modified: timeOf(1),
  deleted: timeOf(day),
  type: 'text/plain',
})
