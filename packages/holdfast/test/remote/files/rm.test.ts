import { expect } from 'chai'
import { useServer } from '../support/use-server.ts'

describe('holdfast rm', function () {
  this.timeout(120_000)
  const server = useServer()
  const rm = (...args: readonly string[]) => server.holdfast(['rm', ...args])
  const left = async () => {
    const names: string[] = []
    for await (const name of server.client.list()) names.push(name)
    return names
  }
  beforeEach(async () => {
    for (const name of ['a.txt', 'b.txt', 'c.jpg', '[ab].txt', '-rf']) {
      await server.client.upload(name, name)
    }
  })
  afterEach(() => server.empty())

  it('deletes the files that are named', async () => {
    expect(await rm('a.txt', '--', '-rf')).to.deep.equal({
      code: 0,
      stdout: '',
      stderr: 'Deleted a.txt\nDeleted -rf\n',
    })
    expect(await left()).to.deep.equal(['[ab].txt', 'b.txt', 'c.jpg'])
  })

  it('deletes what matches a pattern, and ends with 4 if one matches nothing', async () => {
    const { code, stdout, stderr } = await rm('--json', '?.txt', '*.png')
    const lines = stdout.split('\n').slice(0, -1)
    expect({ code, stderr }).to.deep.equal({ code: 4, stderr: '' })
    expect(lines.map((line) => JSON.parse(line) as object)).to.have.deep.members([
      { name: 'a.txt', deleted: true },
      { name: 'b.txt', deleted: true },
      { name: '*.png', error: { code: 'not-found', message: 'No file matches.' } },
    ])
    expect(await left()).to.deep.equal(['-rf', '[ab].txt', 'c.jpg'])
  })

  it('takes a pattern that is the name of a file for that name', async () => {
    expect((await rm('[ab].txt')).code).to.equal(0)
    expect(await left()).to.deep.equal(['-rf', 'a.txt', 'b.txt', 'c.jpg'])
    expect((await rm('--literal', '*')).code).to.equal(4)
    expect(await left()).to.have.length(4)
  })

  it('deletes the others where one is not there', async () => {
    expect(await rm('x', 'a.txt')).to.deep.include({ code: 4 })
    expect(await left()).not.to.include('a.txt')
  })

  it('deletes nothing without a name', async () => {
    expect((await rm()).code).to.equal(2)
    expect((await rm('-rf', 'a.txt')).code).to.equal(2)
    expect(await left()).to.have.length(5)
  })
})
