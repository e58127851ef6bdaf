import { expect } from 'chai'
import { useServer } from '../support/use-server.ts'

describe('holdfast du', function () {
  this.timeout(120_000)
  const server = useServer()
  const du = (...args: readonly string[]) => server.holdfast(['du', ...args])

  it('says how much is kept', async () => {
    await server.client.upload('a', 'x'.repeat(2345))
    expect(await du()).to.deep.equal({
      code: 0,
      stdout: 'size        2.35 kB (2345 bytes)\nfiles       1\n',
      stderr: '',
    })
    expect(JSON.parse((await du('--json')).stdout)).to.deep.equal(await server.client.usage())
  })

  it('takes no names', async () => {
    expect((await du('a')).code).to.equal(2)
    expect((await du('--', 'a')).code).to.equal(2)
  })
})
