import { expect } from 'chai'
import yargs from 'yargs'
import { complete } from '../../src/completion/answer-shell.ts'

describe('complete', () => {
  const names = ['a b.txt', 'a:b', 'a:c d', 'x=y', "it's"]
  const cli = () =>
    yargs([])
      .command('rm [names..]', 'Delete', (inner) => inner.positional('names', { array: true }))
      .command('put [files..]', 'Store', (inner) => inner.positional('files', { array: true }))
      .exitProcess(false)
  const findNames = (prefix: string) =>
    Promise.resolve(names.filter((name) => name.startsWith(prefix)))
  const forBash = (line: string, breaks = ' \t\n"\'@><=;|&(:') =>
    complete(cli(), 'bash', [line, breaks], findNames)

  it('quotes names for bash', async () => {
    expect(await forBash('holdfast rm i')).to.deep.equal(["it\\'s"])
    expect(await forBash('holdfast rm a\\ ')).to.deep.equal(['a\\ b.txt'])
  })

  it('leaves out what bash keeps of a word that it cuts', async () => {
    expect(await forBash('holdfast rm a:')).to.deep.equal(['b', 'c\\ d'])
    expect(await forBash('holdfast rm a:', ' ')).to.deep.equal(['a:b', 'a:c\\ d'])
    expect(await forBash('holdfast rm x=')).to.deep.equal(['y'])
  })

  it('leaves files to bash', async () => {
    expect(await forBash('holdfast put ')).to.deep.equal(['/'])
    expect(await forBash('holdfast put "a')).to.deep.equal(['/'])
  })

  it('offers no names after an open quote', async () => {
    expect(await forBash('holdfast rm "a')).to.deep.equal([])
  })

  it('gives other shells names as they are', async () => {
    for (const shell of ['zsh', 'fish'] as const) {
      expect(await complete(cli(), shell, ['rm', 'a '], findNames)).to.deep.equal(['a b.txt'])
      expect(await complete(cli(), shell, ['put', ''], findNames)).to.deep.equal(['/'])
    }
  })
})
