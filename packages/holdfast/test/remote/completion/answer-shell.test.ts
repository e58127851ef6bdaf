import { execFileSync } from 'node:child_process'
import yargs from 'yargs'
import { expect } from 'chai'
import type { Argv } from 'yargs'
import {
  suggestWords,
  type Suggestions,
  complete,
  splitLine,
  quoteForBash,
} from '../../../src/remote/completion/answer-shell.ts'

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
      const found = await suggestWords(cli(), words, (prefix, command, profile) => {
        asked.push(profile === undefined ? prefix : `${prefix} of ${profile}`)
        if (command === '--profile') return Promise.resolve(['work'])
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

  it('knows the profiles, and asks by the login of the one that is named', async () => {
    expect(await suggest('get', '--profile', '')).to.deep.equal(['work'])
    await suggest('get', '--profile', 'work', 'a')
    await suggest('get', '--profile=home', 'a')
    expect(asked).to.deep.equal(['', 'a of work', 'a of home'])
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

describe('splitLine', () => {
  const lines: readonly (readonly [string, readonly string[], boolean])[] = [
    ['', [''], false],
    ['holdfast', ['holdfast'], false],
    ['holdfast ', ['holdfast', ''], false],
    ['holdfast  get\ta', ['holdfast', 'get', 'a'], false],
    ['get a\\ b', ['get', 'a b'], false],
    ['get a\\\\b', ['get', 'a\\b'], false],
    ["get 'a b'", ['get', 'a b'], false],
    ["get 'a b", ['get', 'a b'], true],
    ['get "a \\"b\\" $c\\x"', ['get', 'a "b" $c\\x'], false],
    ['get "a b', ['get', 'a b'], true],
    ['get "a\\', ['get', 'a'], true],
    ['get a\'b \'c" d"e', ['get', 'ab c de'], false],
    ["get ''", ['get', ''], false],
    ['get a:b=c@d', ['get', 'a:b=c@d'], false],
    ['get a\\', ['get', 'a'], false],
    ['get $(x) *', ['get', '$(x)', '*'], false],
  ]
  for (const [line, values, isQuoted] of lines) {
    it(`reads ${JSON.stringify(line)}`, () => {
      const split = splitLine(line)
      expect(split.words.map(({ value }) => value)).to.deep.equal(values)
      expect(split.isQuoted).to.equal(isQuoted)
    })
  }

  it('keeps the words as they were typed', () => {
    const { words } = splitLine(`get a\\ b "c d"e`)
    expect(words.map(({ raw }) => raw)).to.deep.equal(['get', 'a\\ b', '"c d"e'])
  })
})

describe('quoteForBash', () => {
  it('gives what bash reads as the same word', () => {
    const words = [
      'plain.txt',
      'a b',
      "it's",
      '"quoted"',
      '$(touch x) `touch x` $HOME',
      '~',
      '#x',
      '!x',
      'a\\b',
      'a;b|c&d>e<f(g)',
      '*?[a]{b,c}',
      '^a',
      'größe 字.txt',
      '👩‍👩‍👧',
      '=a',
      '%1',
    ]
    const line = `printf '%s\\n' ${words.map(quoteForBash).join(' ')}`
    const read = execFileSync('bash', ['-c', line], { encoding: 'utf8' })
    expect(read.split('\n').slice(0, -1)).to.deep.equal(words)
  })
})
