import { expect } from 'chai'
import { createCli, serverCommands } from '../src/create-cli.ts'
import { clientVerbIn, clientVerbs, verbNames } from '../src/remote/client-verbs.ts'

describe('createCli', () => {
  const describing = { run: () => Promise.resolve(), warn: () => {} }
  const helpOf = (command: string) => createCli([command], describing).getHelp()

  for (const command of [...serverCommands, ...verbNames]) {
    it(`describes holdfast ${command}`, async () => {
      const help = await helpOf(command)
      expect(help).to.match(new RegExp(`^holdfast ${command}\\b`))
      expect(help).to.include('--help')
      expect(help).not.to.include('undefined')
    })
  }

  it('describes holdfast versions purge, which is no verb of the client', async () => {
    const help = await createCli(['versions', 'purge'], describing).getHelp()
    expect(help).to.match(/^holdfast versions purge\b/)
    expect(help).to.include('--before')
  })

  it('knows the flags that it guesses', async () => {
    for (const { command, flags } of clientVerbs) {
      const help = await helpOf(command.split(' ', 1)[0] ?? '')
      for (const flag of flags) expect(help, command).to.include(`--${flag} `)
    }
  })

  it('refuses what no command takes, with what was probably meant', async () => {
    const messageOf = async (args: readonly string[]) => {
      try {
        await createCli(args, describing).parseAsync()
        return ''
      } catch (error) {
        return error instanceof Error ? error.message : String(error)
      }
    }
    expect(await messageOf(['link', 'x', '--expires', '1h'])).to.include(
      'Did you mean --expires-in?',
    )
    expect(await messageOf(['serve', '--prot', '1'])).to.include('Did you mean --port?')
    expect(await messageOf(['list'])).to.include('holdfast ls does that.')
    expect(await messageOf(['ls', '--password', 'x'])).to.include('--password is not accepted')
    expect(await messageOf(['customers', 'frob'])).to.include('After customers comes one of add')
  })

  it('finds the verb of the client in a command line', () => {
    expect(clientVerbIn(['--json', 'ls'])?.command).to.equal('ls [prefix]')
    expect(clientVerbIn(['serve', 'ls'])).to.equal(undefined)
    expect(clientVerbIn(['versions', 'purge', '--all'])).to.equal(undefined)
    for (const args of [['versions', 'a', 'purge'], ['versions', '--', 'purge'], ['versions']]) {
      expect(clientVerbIn(args)?.command).to.equal('versions [names..]')
    }
  })
})
