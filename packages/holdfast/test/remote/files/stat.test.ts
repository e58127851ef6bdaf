import type { FileDetails } from '@holdfast/client'
import { expect } from 'chai'
import { useServer } from '../support/use-server.ts'

describe('holdfast stat', function () {
  this.timeout(120_000)
  const server = useServer()
  const stat = (...args: readonly string[]) => server.holdfast(['stat', ...args])
  before(async () => {
    await server.client.upload('a.txt', 'x'.repeat(2345))
    await server.client.upload('b', '')
  })

  it('says all that is known of files, in their order', async () => {
    const { code, stdout, stderr } = await stat('b', 'x', 'a*')
    expect({ code, stderr }).to.deep.equal({ code: 4, stderr: 'holdfast: x: File not found\n' })
    const { etag, modified } = await server.client.stat('a.txt')
    expect(stdout.split('\n').slice(0, 2)).to.deep.equal(['b', '  size      0 B'])
    expect(stdout.split('\n').slice(5)).to.deep.equal([
      'a.txt',
      '  size      2.35 kB (2345 bytes)',
      `  modified  ${modified.slice(0, 16).replace('T', ' ')} (${modified})`,
      '  type      text/plain; charset=utf-8',
      `  etag      ${etag}`,
      '',
    ])
  })

  it('says it as JSON', async () => {
    const { stdout } = await stat('--json', 'a.txt')
    expect(JSON.parse(stdout) as FileDetails).to.deep.equal(await server.client.stat('a.txt'))
  })
})
