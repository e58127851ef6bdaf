import { join } from 'node:path'
import { useHoldfast } from '@holdfast/testing'
import { expect } from 'chai'
import { runOnTerminal } from './support/run-on-terminal.ts'

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
