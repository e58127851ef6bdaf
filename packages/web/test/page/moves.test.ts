import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { createFileList } from '../../page/list/file-list-state.ts'
import { moveFiles } from '../../page/list/moves.ts'
import { notices } from '../../page/parts/notices.ts'
import { fakeConnection } from './fake-connection.ts'

const file = (name: string) => ({
  name,
  size: 1,
  modified: '2026-01-01T00:00:00.000Z',
  type: 'text/plain',
  etag: '"1"',
})

describe('moveFiles', () => {
  it('ends when the customer signs out, and says nothing of the files to the next one', async () => {
    const { connection, asked } = fakeConnection()
    const ending = new AbortController()
    const deletions = { finishDeletion: async () => {}, cancelDeletion: () => {} }
    const site = {
      connection,
      files: createFileList(connection),
      deletions,
      ended: ending.signal,
    }
    const moves = Array.from({ length: 20 }, (_, at) => ({ file: file(`${at}`), to: `a - ${at}` }))
    const moving = moveFiles(site, moves)
    await until('four are asked for', () => asked.length === 4)
    ending.abort()
    notices.value = []
    for (const each of asked) await each.answer(new Response('OK'))
    await moving
    expect(asked).to.have.length(4)
    expect(notices.value).to.deep.equal([])
  })
})
