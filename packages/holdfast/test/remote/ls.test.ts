import type { FileDetails } from '@holdfast/client'
import { nastyNames } from '@holdfast/contract'
import { expect } from 'chai'
import { runOnTerminal } from '../terminal/support/run-on-terminal.ts'
import { useServer } from './support/use-server.ts'
import { usageText } from '../../src/remote/ls.ts'

describe('holdfast ls', function () {
  this.timeout(120_000)
  const server = useServer()
  const ls = (...args: readonly string[]) => server.holdfast(['ls', ...args])

  it('prints nothing of nothing', async () => {
    expect(await ls()).to.deep.equal({ code: 0, stdout: '', stderr: '' })
  })

  describe('with files', () => {
    before(async () => {
      for (const name of ['a.jpg', 'a1.txt', 'a[1].txt', '-b', '.c', 'b\u202ea']) {
        await server.client.upload(name, 'x'.repeat(1234))
      }
    })
    after(() => server.empty())

    it('prints the names in the order of their bytes, as they are', async () => {
      const stdout = '-b\n.c\na.jpg\na1.txt\na[1].txt\nb\u202ea\n'
      expect(await ls()).to.deep.equal({ code: 0, stdout, stderr: '' })
    })

    it('takes the beginning of names, or a pattern', async () => {
      const found = async (...args: readonly string[]) => (await ls(...args)).stdout.split('\n')
      expect(await found('a')).to.deep.equal(['a.jpg', 'a1.txt', 'a[1].txt', ''])
      expect(await found('*.txt')).to.deep.equal(['a1.txt', 'a[1].txt', ''])
      expect(await found('a[1].txt')).to.deep.equal(['a1.txt', 'a[1].txt', ''])
      expect(await found('a[1', '--literal')).to.deep.equal(['a[1].txt', ''])
      expect(await found('--', '-')).to.deep.equal(['-b', ''])
      expect(await found('-')).to.deep.equal(['-b', ''])
    })

    it('colours names by their kind on a terminal, and counts', async () => {
      const shownFor = async (args: readonly string[], env = {}) => {
        const environment = {
          ...server.env,
          TERM: 'xterm',
          NO_COLOR: '',
          FORCE_COLOR: undefined,
          CI: undefined,
          ...env,
        }
        const { shown } = await runOnTerminal(['ls', ...args, 'a'], [], { env: environment })
        return shown.replaceAll('\r\n', '\n')
      }
      const picture = '\u001b[35ma.jpg\u001b[39m'
      expect(await shownFor([])).to.equal(`${picture}\na1.txt\na[1].txt\n3 files\n`)
      expect(await shownFor(['-l'])).to.match(/a\[1\]\.txt\n3 files, 3\.70 kB\n$/)
      expect(await shownFor([], { NO_COLOR: '1' })).to.equal('a.jpg\na1.txt\na[1].txt\n3 files\n')
    })

    it('shows sizes and times with -l', async () => {
      const { stdout } = await ls('-l', 'a.')
      expect(stdout).to.match(/^1\.23 kB {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}a\.jpg\n$/)
    })

    it('sorts by size, by time and backwards', async () => {
      await server.client.upload('a-large', 'x'.repeat(5000))
      await server.client.upload('a-small', 'x')
      const found = async (...args: readonly string[]) =>
        (await ls('a', ...args)).stdout.trim().split('\n')
      const same = ['a.jpg', 'a1.txt', 'a[1].txt']
      expect(await found('--sort', 'size')).to.deep.equal(['a-large', ...same, 'a-small'])
      expect(await found('--sort', 'time')).to.deep.equal([
        'a-small',
        'a-large',
        ...same.toReversed(),
      ])
      expect(await found('-r')).to.deep.equal([...same.toReversed(), 'a-small', 'a-large'])
      expect((await found('-r', '--sort', 'size'))[0]).to.equal('a-small')
      expect((await found('-l', '--sort', 'size'))[0]).to.match(/^5\.00 kB .* a-large$/)
      expect((await ls('--sort', 'colour')).code).to.equal(2)
      for (const name of ['a-large', 'a-small']) await server.client.delete(name)
    })

    it('prints a line of JSON for each file with --json', async () => {
      const { stdout } = await ls('a.', '--json')
      const { etag, modified, ...file } = JSON.parse(stdout) as FileDetails
      expect(file).to.deep.equal({ name: 'a.jpg', size: 1234, type: 'image/jpeg' })
      expect([etag[0], new Date(modified).toJSON()]).to.deep.equal(['"', modified])
    })

    it('ends with 4 where nothing is found, and with 2 for two words', async () => {
      expect(await ls('x')).to.deep.equal({
        code: 4,
        stdout: '',
        stderr: 'holdfast: x: No file matches.\n',
      })
      expect((await ls('--', 'a', 'b')).code).to.equal(2)
      const { code, stderr } = await ls('a', 'b')
      expect(code).to.equal(2)
      expect(stderr).to.include('Unknown argument: b')
    })
  })

  it('says which letters of the ls and rm of the system are of no use', async () => {
    for (const [args, hint] of [
      [['ls', '-la'], 'Use -l for sizes and times'],
      [['ls', '-a', '-l'], 'Use -l for sizes and times'],
      [['rm', '-rf', 'x'], 'rm needs no options'],
    ] as const) {
      const { code, stderr } = await server.holdfast(args)
      expect(code).to.equal(2)
      expect(stderr).to.include(hint)
    }
  })

  it('prints any name, raw and as JSON', async () => {
    const { client } = server
    await Promise.all(nastyNames.map((name) => client.upload(name, '')))
    const names: string[] = []
    for await (const name of server.client.list()) names.push(name)
    expect((await ls()).stdout).to.equal(names.map((name) => `${name}\n`).join(''))
    const lines = (await ls('--json')).stdout.split('\n').slice(0, -1)
    expect(lines.map((line) => (JSON.parse(line) as FileDetails).name)).to.deep.equal(names)
    await server.empty()
  })
})

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

describe('usageText', () => {
  const unfinished = { uploads: 0, bytes: 0 }

  it('says the limits, and how much of them is used', () => {
    const usage = {
      files: 3,
      bytes: 2_500_000_000,
      quota: 50_000_000_000,
      maxFiles: 10,
      unfinished,
    }
    expect(usageText(usage)).to.equal(
      'size        2.50 GB (2500000000 bytes) of 50.0 GB (5%)\nfiles       3 of 10',
    )
  })

  it('rounds down what is used, but says that it is something', () => {
    const share = (bytes: number, quota: number) =>
      /\((\S+%)\)$/m.exec(usageText({ files: 1, bytes, quota, unfinished }))?.[1]
    expect([share(0, 1000), share(1, 1000), share(999, 1000), share(0, 0)]).to.deep.equal([
      '0%',
      '<1%',
      '99%',
      '100%',
    ])
  })

  it('says what is unfinished, where something is', () => {
    const usage = { files: 0, bytes: 0, unfinished: { uploads: 1, bytes: 5 } }
    expect(usageText(usage)).to.include('unfinished  1 upload with 5 B')
  })
})
