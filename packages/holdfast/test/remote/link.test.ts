import { HoldfastError } from '@holdfast/client'
import { expect } from 'chai'
import { useServer } from './support/use-server.ts'
import { explainLinkRefusal } from '../../src/remote/link.ts'

describe('holdfast link', function () {
  this.timeout(120_000)
  const server = useServer()
  const link = (...args: readonly string[]) => server.holdfast(['link', ...args])
  before(async () => {
    await server.client.upload('a.txt', 'one')
    await server.client.upload('b.txt', 'two')
  })

  it('prints links that open the files', async () => {
    const { code, stdout, stderr } = await link('b.txt', 'a*', '--expires-in', '10m')
    expect(code).to.equal(0)
    const urls = stdout.split('\n').slice(0, -1)
    const texts = await Promise.all(urls.map(async (url) => (await fetch(url)).text()))
    expect(texts).to.deep.equal(['two', 'one'])
    expect(stderr).to.match(/^holdfast: "b\.txt": valid until \d{4}-\d\d-\d\d \d\d:\d\d\n/)
  })

  it('prints nothing else with --quiet', async () => {
    const { code, stderr } = await link('a.txt', '--quiet')
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' })
  })

  it('says them as JSON', async () => {
    const before = Date.now()
    const { stdout, stderr } = await link('a.txt', '--expires-in', '7d', '--inline', '--json')
    const made = JSON.parse(stdout) as Readonly<Record<'name' | 'url' | 'expires', string>>
    expect({ name: made.name, stderr }).to.deep.equal({ name: 'a.txt', stderr: '' })
    expect(Date.parse(made.expires)).to.be.within(
      before + 6.9 * 864e5,
      Date.now() + 7 * 864e5 + 1000,
    )
    const { headers } = await fetch(made.url)
    expect(headers.get('content-disposition')).to.match(/^inline/)
  })

  it('prints links to a page about the file, which other programs do not get', async () => {
    const url = (await link('a.txt', '--page')).stdout.trim()
    const browser = await fetch(url, { headers: { Accept: 'text/html' } })
    expect(browser.headers.get('content-type')).to.match(/^text\/html/)
    expect(await (await fetch(url)).text()).to.equal('one')
    expect((await link('new', '--page', '--upload')).code).to.equal(2)
  })

  it('ends all links that were made', async () => {
    const { stdout } = await link('b.txt')
    const ended = await link('--end-all')
    expect(ended).to.deep.equal({ code: 0, stdout: '', stderr: 'Ended all links\n' })
    expect((await fetch(stdout.trim())).status).to.equal(403)
    expect((await fetch((await link('b.txt')).stdout.trim())).status).to.equal(200)
    for (const args of [['b.txt'], ['--upload'], ['--expires-in', '1h']]) {
      expect((await link('--end-all', ...args)).code, args.join(' ')).to.equal(2)
    }
  })

  it('prints links to upload', async () => {
    const bounds = ['--prefix', '--max-files', '2', '--max-size', '5B']
    const { stdout } = await link('from-bob-', '--upload', ...bounds)
    const put = async (name: string, body: string) => {
      const url = stdout.trim().replace('from-bob-?', `from-bob-${name}?`)
      return (await fetch(url, { method: 'PUT', body })).status
    }
    expect([await put('1', '12345'), await put('2', '123456')]).to.deep.equal([200, 413])
    expect(await (await server.client.download('from-bob-1')).text()).to.equal('12345')
  })

  it('ends with 4 where there is no such file', async () => {
    expect(await link('x')).to.deep.equal({
      code: 4,
      stdout: '',
      stderr: 'holdfast: x: File not found\n',
    })
  })

  it('says in the unit of the user for how long a link may be good', async () => {
    expect(await link('a.txt', '--expires-in', '99d')).to.deep.equal({
      code: 1,
      stdout: '',
      stderr: 'holdfast: a.txt: --expires-in "99d" must be at most 7d here.\n',
    })
    const upload = ['x', '--upload', '--prefix', '--max-files', '20000']
    expect((await link(...upload)).stderr).to.equal(
      'holdfast: x: --max-files "20000" must be a whole number from 1 to 10000.\n',
    )
  })

  const mistakes: readonly (readonly [readonly string[], string])[] = [
    [[], 'Say the name of a file.'],
    [['a', '--prefix'], '--prefix is for links to upload: add --upload.'],
    [['a', '--upload', '--inline'], '--inline is for links to download: leave out --upload.'],
    [['a', '--upload', '--max-files', '2'], '--max-files is for many files: add --prefix.'],
    [['a', '--expires', '1h'], 'Did you mean --expires-in?'],
    [['a', '--expires-in', '1'], '--expires-in "1" is not a time between 1ms and 1000 days'],
    [['a', '--upload', '--max-size', '5G'], '--max-size "5G" is not a size'],
    [['a', '--upload', '--prefix', '--max-files', '0'], '--max-files "0" is not a number of files'],
  ]
  for (const [args, message] of mistakes) {
    it(`refuses "${args.join(' ')}"`, async () => {
      const { code, stdout, stderr } = await link(...args)
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' })
      expect(stderr).to.include(message)
    })
  }
})

describe('explainLinkRefusal', () => {
  const invalid = (message: string) => new HoldfastError('invalid-field', message, { status: 400 })
  const time = (most: number) =>
    invalid(`Invalid expiresIn: it must be a whole number of seconds from 1 to ${most}`)
  const cases: readonly (readonly [Error, Readonly<Record<string, string>>, string])[] = [
    [time(604_800), { 'expires-in': '99d' }, '--expires-in "99d" must be at most 7d here.'],
    [time(604_800), { 'expires-in': '200h' }, '--expires-in "200h" must be at most 168h here.'],
    [time(604_800), { 'expires-in': '99999999s' }, '"99999999s" must be at most 604800s here.'],
    [time(129_600), { 'expires-in': '2d' }, '--expires-in "2d" must be at most 1.5d here.'],
    [time(90), { 'expires-in': '2d' }, '--expires-in "2d" must be at most 1.5m here.'],
    [time(1), { 'expires-in': '5000ms' }, '--expires-in "5000ms" must be at most 1s here.'],
    [
      invalid('Invalid maxFiles: it must be a whole number from 1 to 10000'),
      { 'max-files': '20000' },
      '--max-files "20000" must be a whole number from 1 to 10000.',
    ],
    [invalid('Invalid body: it must be JSON'), {}, 'Invalid body: it must be JSON'],
    [new Error('x'), {}, 'x'],
  ]
  for (const [error, argv, message] of cases) {
    it(`says ${message}`, () => {
      expect(explainLinkRefusal(error, argv)).to.have.property('message').that.includes(message)
    })
  }
})
