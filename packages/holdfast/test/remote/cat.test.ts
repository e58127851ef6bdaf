import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { createClient } from '@holdfast/client'
import {
  holdfastProgram,
  runHoldfast,
  useHoldfast,
  type HoldfastServer,
  type Outcome,
} from '@holdfast/testing'
import { expect } from 'chai'

describe('holdfast cat', function () {
  this.timeout(120_000)
  const holdfast = useHoldfast()
  let server: HoldfastServer
  beforeEach(async () => {
    server = await holdfast.start()
    const client = createClient({ url: server.url, name: 'demo', password: 'correct horse' })
    for (const name of ['a.txt', 'b.txt', '.c', '[a].txt']) await client.upload(name, `${name}\n`)
  })

  const env = () => ({
    HOME: holdfast.site.path,
    HOLDFAST_URL: server.url,
    HOLDFAST_NAME: 'demo',
    HOLDFAST_PASSWORD: 'correct horse',
  })
  const cat = (...names: readonly string[]): Promise<Outcome> =>
    runHoldfast(['cat', ...names], { cwd: holdfast.site.path, env: env() })

  it('prints files in the order of their names, each once', async () => {
    expect(await cat('b.txt', 'a.txt', '*.txt')).to.deep.equal({
      code: 0,
      stdout: 'b.txt\na.txt\n[a].txt\n',
      stderr: '',
    })
    expect((await cat('*')).stdout).to.equal('[a].txt\na.txt\nb.txt\n')
    expect((await cat('.*')).stdout).to.equal('.c\n')
  })

  it('takes a pattern that is the name of a file for that name', async () => {
    expect((await cat('[a].txt')).stdout).to.equal('[a].txt\n')
    const { code, stderr } = await cat('--literal', '[b].txt')
    expect({ code, stderr }).to.deep.equal({
      code: 4,
      stderr: 'holdfast: [b].txt: File not found\n',
    })
    expect((await cat('[b].txt')).stdout).to.equal('b.txt\n')
  })

  it('goes on after what is not there, and ends with 4', async () => {
    expect(await cat('x', 'a.txt', 'y*', '--', '-z')).to.deep.equal({
      code: 4,
      stdout: 'a.txt\n',
      stderr: [
        'holdfast: x: File not found\n',
        'holdfast: y*: No file matches.\n',
        'holdfast: -z: File not found\n',
      ].join(''),
    })
  })

  it('ends with 1 where files failed for several reasons', async () => {
    expect((await cat('x', '..')).code).to.equal(1)
  })

  it('ends with 2 without a name, and with 3 at the first file without a login', async () => {
    expect((await cat()).code).to.equal(2)
    const args = ['cat', 'a.txt', 'b.txt']
    const wrong = { ...env(), HOLDFAST_PASSWORD: 'x' }
    expect(await runHoldfast(args, { cwd: holdfast.site.path, env: wrong })).to.deep.equal({
      code: 3,
      stdout: '',
      stderr: 'holdfast: Failed: Invalid credentials. Check the name and the password.\n',
    })
  })

  it('ends without a word, with 141, where its reader stops', async () => {
    const client = createClient({ url: server.url, name: 'demo', password: 'correct horse' })
    await client.upload('large', Buffer.alloc(4 * 1024 ** 2, 'a'))
    const child = spawn(process.execPath, [holdfastProgram, 'cat', 'large'], {
      env: { ...process.env, ...env() },
    })
    const said = text(child.stderr)
    await once(child.stdout, 'data')
    child.stdout.destroy()
    const [code] = (await once(child, 'close')) as [number]
    expect({ code, said: await said }).to.deep.equal({ code: 141, said: '' })
  })
})
