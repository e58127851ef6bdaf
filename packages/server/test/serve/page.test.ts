import { type HoldfastServer, useHoldfast } from '@holdfast/testing'
import { expect } from 'chai'

describe('The page of holdfast serve', () => {
  const holdfast = useHoldfast()
  let server: HoldfastServer | undefined

  const ask = async (args: readonly string[], env: Record<string, string> = {}) => {
    server = await holdfast.start(args, { env })
    return fetch(`${server.url}/`, { headers: { Accept: 'text/html' } })
  }

  it('is there for browsers, with all that it loads', async () => {
    const answer = await ask([])
    const html = await answer.text()
    expect(html).to.include('<title>holdfast</title>')
    const [, script = ''] = /src="\.\/([^"]+\.js)"/.exec(html) ?? []
    expect((await fetch(`${server!.url}/${script}`)).status).to.equal(200)
  })

  it('is there with several processes', async () => {
    expect((await ask(['--workers', '2'])).status).to.equal(200)
  })

  for (const [how, args, env] of [
    ['the flag', ['--no-web'], {}],
    ['the environment', [], { HOLDFAST_NO_WEB: 'true' }],
  ] as const) {
    it(`is turned off by ${how}`, async () => {
      const answer = await ask(args, env)
      expect([answer.status, await answer.json()]).to.deep.equal([
        404,
        { statusCode: 404, error: 'Not Found', message: 'Not Found' },
      ])
    })
  }
})
