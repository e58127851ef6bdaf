import { join } from 'node:path'
import { Readable } from 'node:stream'
import { useHoldfast } from '@holdfast/testing'
import { expect } from 'chai'
import { SetupError } from '@holdfast/core'
import { runOnTerminal } from './support/run-on-terminal.ts'
import { readPassword } from '../../src/terminal/ask.ts'

describe('a question on the terminal', function () {
  this.timeout(120_000)
  const holdfast = useHoldfast()
  const { site } = holdfast

  const login = (url: string, answers: readonly (readonly [string, string])[]) =>
    runOnTerminal(['login', url], answers, {
      env: { HOME: site.path, XDG_CONFIG_HOME: join(site.path, 'config') },
    })

  it('shows what is typed, but no password', async () => {
    const { url } = await holdfast.start()
    const { code, shown } = await login(url, [
      ['Name: ', 'demo\r'],
      ['Password: ', 'correct horse\r'],
    ])
    expect({ code, shown }).to.deep.include({ code: 0 })
    expect(shown).to.include('demo').and.to.include('Logged in to')
    expect(shown).not.to.include('correct')
  })

  it('may be left by Ctrl-D', async () => {
    const { code, shown } = await login('http://127.0.0.1:1', [['Name: ', '\u0004']])
    expect(code).to.equal(2)
    expect(shown).to.include('There was no answer.')
  })

  it('ends the command at Ctrl-C, as at any other time', async () => {
    const interrupted = [
      [['Name: ', '\u0003']],
      [
        ['Name: ', 'demo\r'],
        ['Password: ', '\u0003'],
      ],
    ] as const
    for (const answers of interrupted) {
      expect((await login('http://127.0.0.1:1', answers)).code).to.equal(130)
    }
  })
})

describe('readPassword', () => {
  const read = (...chunks: readonly (string | Uint8Array)[]) =>
    readPassword(Readable.from(chunks.map((chunk) => Buffer.from(chunk))))

  const passwords: readonly (readonly [input: string, password: string])[] = [
    ['correct horse', 'correct horse'],
    ['a\n', 'a'],
    ['a\r\n', 'a'],
    ['a\tb', 'a\tb'],
    ['pässwörd€😀', 'pässwörd€😀'],
    ['\ufeffa', '\ufeffa'],
    ['x'.repeat(4096), 'x'.repeat(4096)],
  ]
  for (const [input, password] of passwords) {
    it(`takes ${JSON.stringify(input.slice(0, 20))}`, async () => {
      expect(await read(input)).to.equal(password)
    })
  }

  it('takes a character that comes in two pieces', async () => {
    const bytes = Buffer.from('a€b')
    expect(await read(bytes.subarray(0, 2), bytes.subarray(2))).to.equal('a€b')
  })

  const refused: readonly (readonly [input: string | Uint8Array, message: string])[] = [
    ['', 'holds no password'],
    ['\n', 'holds no password'],
    ['a\nb', 'has a line break or another control character in it'],
    ['a\n\n', 'has a line break or another control character in it'],
    ['a\0b', 'has a line break or another control character in it'],
    ['a\x7fb', 'has a line break or another control character in it'],
    [' a', 'begins or ends with a space'],
    ['a\t\n', 'begins or ends with a space'],
    ['é'.repeat(2049), 'has 4098 bytes, and 4096 is the most'],
    [Uint8Array.of(0x63, 0x61, 0x66, 0xe9), 'is not UTF-8'],
  ]
  for (const [input, message] of refused) {
    it(`refuses ${JSON.stringify(Buffer.from(input).toString('latin1').slice(0, 20))}`, async () => {
      const error: unknown = await read(input).catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(SetupError)
      expect(error).to.have.property('message').that.includes(message)
      // A message must not show the password.
      if (input.length > 4) expect(error).to.have.property('message').not.include(String(input))
    })
  }
})
