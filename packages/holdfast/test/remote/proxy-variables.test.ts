import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { useServer } from './support/use-server.ts'

describe('A proxy that the environment names', function () {
  this.timeout(120_000)
  const server = useServer()

  it('is not used, as the README says', async () => {
    const asked: string[] = []
    const proxy = createServer(({ url = '' }, response) => {
      asked.push(url)
      response.end()
    })
    await once(proxy.listen(0, '127.0.0.1'), 'listening')
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    for (const env of [
      { http_proxy: address, HTTP_PROXY: address },
      { http_proxy: address, NODE_USE_ENV_PROXY: '1' },
    ]) {
      expect((await server.holdfast(['du'], { env })).code).to.equal(0)
    }
    proxy.close()
    expect(asked).to.deep.equal([])
  })
})
