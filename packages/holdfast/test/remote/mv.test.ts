import { expect } from 'chai'
import { useServer } from './support/use-server.ts'

describe('holdfast mv', function () {
  this.timeout(120_000)
  const server = useServer()
  const mv = (...args: readonly string[]) => server.holdfast(['mv', ...args])
  const textOf = async (name: string) => (await server.client.download(name)).text()
  const names = async () => {
    const all: string[] = []
    for await (const name of server.client.list()) all.push(name)
    return all
  }
  beforeEach(async () => {
    for (const name of ['a.txt', 'b.txt', '-n']) await server.client.upload(name, `was ${name}`)
  })
  afterEach(() => server.empty())

  it('gives a file another name', async () => {
    expect(await mv('a.txt', 'new *.txt')).to.deep.equal({
      code: 0,
      stdout: '',
      stderr: 'Renamed a.txt to new *.txt\n',
    })
    expect(await names()).to.deep.equal(['-n', 'b.txt', 'new *.txt'])
    expect(await textOf('new *.txt')).to.equal('was a.txt')
  })

  it('replaces a file of the new name, but with --no-clobber', async () => {
    const kept = await mv('a.txt', 'b.txt', '--no-clobber')
    expect(kept).to.deep.equal({
      code: 1,
      stdout: '',
      stderr: 'holdfast: a.txt: There is a file of this name on the server\n',
    })
    expect(await textOf('b.txt')).to.equal('was b.txt')
    expect((await mv('a.txt', 'b.txt')).code).to.equal(0)
    expect(await textOf('b.txt')).to.equal('was a.txt')
    expect(await names()).to.deep.equal(['-n', 'b.txt'])
  })

  it('prints what it did, or could not do, as JSON', async () => {
    const done = await mv('--json', '--', '-n', 'n')
    expect(JSON.parse(done.stdout)).to.deep.equal({ name: '-n', to: 'n', renamed: true })
    const failed = await mv('--json', 'none', 'n')
    expect(failed.code).to.equal(4)
    expect(JSON.parse(failed.stdout)).to.deep.equal({
      name: 'none',
      error: { code: 'not-found', message: 'File not found' },
    })
  })

  it('does nothing to a file that has the name', async () => {
    expect((await mv('a.txt', 'a.txt')).code).to.equal(0)
    expect(await textOf('a.txt')).to.equal('was a.txt')
  })

  it('says what is wrong with a new name', async () => {
    const { code, stderr } = await mv('a.txt', 'folder/a.txt')
    expect(code).to.equal(1)
    expect(stderr).to.match(/^holdfast: a\.txt: Invalid to: .+\n$/u)
  })

  it('needs two names', async () => {
    for (const args of [[], ['a.txt'], ['a.txt', 'b.txt', 'folder']]) {
      const { code, stderr } = await mv(...args)
      expect(code, args.join(' ')).to.equal(2)
      expect(stderr).to.include('mv needs two names')
    }
    expect((await mv('-f', 'a.txt', 'b.txt')).stderr).to.include('--no-clobber keeps it')
    expect(await names()).to.deep.equal(['-n', 'a.txt', 'b.txt'])
  })
})
