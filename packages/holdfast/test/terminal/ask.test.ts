import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { holdfastProgram, until, useHoldfast } from '@holdfast/testing'
import { expect } from 'chai'

describe('a question on the terminal', function () {
  this.timeout(120_000)
  const holdfast = useHoldfast()
  const { site } = holdfast

  /** Runs `holdfast login` on a terminal of its own, with answers to what it asks. */
  const login = async (url: string, answers: readonly (readonly [string, string])[]) => {
    const command = `"${process.execPath}" "${holdfastProgram}" login ${url}`
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: { ...process.env, HOME: site.path, XDG_CONFIG_HOME: join(site.path, 'config') },
    })
    let shown = ''
    child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()))
    const closed = once(child, 'close') as Promise<[number]>
    for (const [question, answer] of answers) {
      await until(
        () => `it asks "${question}"; it said ${shown}`,
        () => shown.includes(question),
      )
      child.stdin.write(answer)
    }
    const [code] = await closed
    return { code, shown }
  }

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
