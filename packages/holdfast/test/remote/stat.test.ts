import { createHash } from 'node:crypto'
import type { FileDetails } from '@holdfast/client'
import { expect } from 'chai'
import { useServer } from './support/use-server.ts'

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

  it('reads files and shows their SHA-256, if asked to', async () => {
    const digest = (text: string) => createHash('sha256').update(text).digest('hex')
    const { code, stdout } = await stat('--sha256', 'a.txt', 'b')
    expect(code).to.equal(0)
    const shown = stdout.split('\n').filter((line) => line.startsWith('  sha256'))
    expect(shown).to.deep.equal([
      `  sha256    ${digest('x'.repeat(2345))}`,
      `  sha256    ${digest('')}`,
    ])
    const line = JSON.parse((await stat('--sha256', '--json', 'b')).stdout) as { sha256: string }
    expect(line.sha256).to.equal(digest(''))
    expect((await stat('--sha256', 'missing')).code).to.equal(4)
  })

  it('says it as JSON', async () => {
    const { stdout } = await stat('--json', 'a.txt')
    expect(JSON.parse(stdout) as FileDetails).to.deep.equal(await server.client.stat('a.txt'))
  })
})
