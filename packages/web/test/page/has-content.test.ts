import { expect } from 'chai'
import { hasContent } from '../../page/api/connection.ts'
import { fakeConnection } from './fake-connection.ts'

describe('hasContent', () => {
  const file = new File(['12345'], 'a.txt')

  async function answer(content: string) {
    const { connection, asked, lines } = fakeConnection()
    const found = hasContent(connection, 'a.txt', file, new AbortController().signal)
    const headers = { 'Content-Length': String(content.length) }
    await asked[0]!.answer(new Response(null, { headers }))
    await asked[1]?.answer(new Response(content))
    return { found: await found, lines: lines() }
  }

  it('finds the same content, so that an upload whose answer was lost is no conflict', async () => {
    expect(await answer('12345')).to.deep.equal({
      found: true,
      lines: ['HEAD serve/a.txt', 'GET serve/a.txt'],
    })
  })

  it('finds another content of the same size', async () => {
    expect((await answer('12346')).found).to.equal(false)
  })

  it('reads nothing of another size', async () => {
    expect(await answer('123')).to.deep.equal({ found: false, lines: ['HEAD serve/a.txt'] })
  })
})
