import { once } from 'node:events'
import { mkdir, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { startBadLine, until } from '@holdfast/testing'
import { expect } from 'chai'
import { allOf, mebibyte, useLogin } from '../support/logged-in.ts'

describe('holdfast put of many files', function () {
  this.timeout(180_000)
  const { site, run, start, client, server } = useLogin()
  const write = (name: string, content = name) => writeFile(join(site.path, name), content)
  const small = Array.from({ length: 600 }, (_, index) => `small-${index}`)
  const stored = async (name: string) => (await client().download(name)).text()
  const names = async () => allOf(client().list())
  const requests = (path: string) =>
    server()
      .lines()
      .filter((line) => line['path'] === path)
  const linesOf = (text: string) => text.split('\n').slice(0, -1).toSorted()

  it('sends small ones many in a request, and reports each of them', async () => {
    await Promise.all(small.map((name) => write(name)))
    await write('large', '')
    await truncate(join(site.path, 'large'), mebibyte)
    const { code, stdout, stderr } = await run(['put', ...small, 'large'])
    expect({ code, stdout }).to.deep.equal({ code: 0, stdout: '' })
    const lines = small.map((name) => `${name} is stored as ${name}, ${name.length} B`)
    expect(linesOf(stderr)).to.deep.equal(
      [...lines, 'large is stored as large, 1.05 MB', '601 files, 1.05 MB in all'].toSorted(),
    )
    expect(await names()).to.have.members([...small, 'large'])
    expect(await stored('small-599')).to.equal('small-599')
    expect(requests('/upload/batch')).to.have.length(3)
  })

  it('fails for each file on its own', async () => {
    const none = 'x'.repeat(250)
    await mkdir(join(site.path, 'dir'))
    await Promise.all(['a', 'b', 'c', none].map((name) => write(name)))
    await client().upload('b', 'before')
    const args = ['put', 'a', 'none', 'b', 'dir', none, 'c', '--no-clobber', '--json']
    const { code, stdout } = await run(args)
    expect(code).to.equal(1)
    const results = linesOf(stdout).map((line) => JSON.parse(line) as { error?: { code: string } })
    expect(results).to.have.deep.members([
      { name: 'a', path: 'a', size: 1 },
      { name: 'c', path: 'c', size: 1 },
      { name: none, path: none, size: 250 },
      {
        name: 'b',
        error: { code: 'already-exists', message: 'There is a file of this name on the server' },
      },
      { name: 'none', error: { code: 'ENOENT', message: 'No such file or directory' } },
      {
        name: 'dir',
        error: {
          code: 'failed',
          message:
            'It is a directory; -r uploads all files in it, and sync those that are new or changed.',
        },
      },
    ])
    expect(await stored('b')).to.equal('before')
  })

  it('ends with 5, and a line for each file, where the server has no time', async () => {
    const busy = createServer((_, response) => {
      response.writeHead(503, { 'Retry-After': '3600' }).end()
    })
    await once(busy.listen(0, '127.0.0.1'), 'listening')
    try {
      await Promise.all(['a', 'b'].map((name) => write(name)))
      const { port } = busy.address() as AddressInfo
      const { code, stdout } = await run(['put', 'a', 'b', '--json'], { port })
      expect(code).to.equal(5)
      expect(linesOf(stdout).map((line) => (JSON.parse(line) as { name: string }).name))
        .to.deep //
        .equal(['a', 'b'])
    } finally {
      busy.closeAllConnections()
      await once(busy.close(), 'close')
    }
  })

  it('ends with 3, and one line, without a login that the server takes', async () => {
    await Promise.all(['a', 'b'].map((name) => write(name)))
    await writeFile(join(site.path, 'customers.yaml'), 'customers: []\n')
    await until('the customer is gone', async () => (await run(['ls'])).code === 3)
    expect(await run(['put', 'a', 'b'])).to.deep.equal({
      code: 3,
      stdout: '',
      stderr: 'holdfast: Failed: Invalid credentials. Check the name and the password.\n',
    })
  })

  it('ends at Ctrl+C, and reports nothing as stored', async () => {
    await Promise.all(['a', 'b'].map((name) => write(name)))
    await using line = await startBadLine(server().port, ['silent'])
    const { child, ended } = start(['put', 'a', 'b'], line)
    await until('the request is under way', () => line.connections() === 1, 120_000)
    child.kill('SIGINT')
    expect(await ended).to.deep.equal({
      end: 130,
      stdout: '',
      stderr: 'holdfast: Stopped by SIGINT.\n',
    })
    expect(await names()).to.deep.equal([])
  })
})
