import { expect } from 'chai'
import yargs, { type Argv } from 'yargs'
import { suggestWords, type Suggestions } from '../../src/completion/answer-shell.ts'

describe('suggestWords', () => {
  let asked: string[]
  beforeEach(() => (asked = []))

  const cli = (): Argv =>
    yargs([])
      .scriptName('holdfast')
      .command('get [names..]', 'Fetch', (inner) =>
        inner
          .positional('names', { type: 'string', array: true })
          .option('output', { alias: 'o', type: 'string', describe: 'Where to' })
          .option('json', { type: 'boolean', describe: 'JSON' }),
      )
      .command('put [files..]', 'Store', (inner) => inner.option('as', { describe: 'Name' }))
      .command('serve', 'Run', (inner) => inner.option('store', { choices: ['disk', 'minio'] }))
      .command('customers', 'Edit', (inner) => inner.command('add [name]', 'Add'))
      .alias('help', 'h')
      .exitProcess(false)

  const names = ['a b', 'a\u202eb', 'a*', '-a', 'a\u0085']
  const suggest = async (...words: string[]): Promise<readonly string[] | 'files'> => {
    const shell = process.env['SHELL']
    process.env['SHELL'] = 'fish'
    try {
      const found = await suggestWords(cli(), words, (prefix) => {
        asked.push(prefix)
        return Promise.resolve(names.filter((name) => name.startsWith(prefix)))
      })
      return wordsOf(found)
    } finally {
      if (shell === undefined) delete process.env['SHELL']
      else process.env['SHELL'] = shell
    }
  }
  const wordsOf = (found: Suggestions) =>
    found === 'files' ? found : found.map(({ word }) => word)

  it('knows the commands', async () => {
    expect(await suggest('')).to.deep.equal(['get', 'put', 'serve', 'customers'])
    expect(await suggest('ge')).to.deep.equal(['get'])
    expect(await suggest('customers', '')).to.deep.equal(['add'])
    expect(await suggest('x')).to.deep.equal([])
  })

  it('knows the options of a command, where a dash is typed', async () => {
    expect(await suggest('get', '--o')).to.deep.equal(['--output'])
    expect(await suggest('get', '--json', '--'))
      .to.include('--output')
      .and.not.include('--json')
    expect(await suggest('serve', '--store', 'm')).to.deep.equal(['minio'])
  })

  it('asks the server for names', async () => {
    expect(await suggest('get', 'a')).to.deep.equal(['a b', 'a*'])
    expect(await suggest('get', 'x', '--json', 'a ')).to.deep.equal(['a b'])
    expect(asked).to.deep.equal(['a', 'a '])
  })

  it('gives names that begin with a dash only after two', async () => {
    expect(await suggest('get', '')).to.deep.equal(['a b', 'a*'])
    expect(await suggest('get', '--', '')).to.deep.equal(['a b', 'a*', '-a'])
    expect(await suggest('get', '--', '-')).to.deep.equal(['-a'])
  })

  it('leaves files of this machine to the shell, without asking the server', async () => {
    expect(await suggest('put', '')).to.equal('files')
    expect(await suggest('put', '--', 'x')).to.equal('files')
    expect(await suggest('get', '-o', '')).to.equal('files')
    expect(await suggest('get', '--output', 'x')).to.equal('files')
    expect(asked).to.deep.equal([])
  })
})
