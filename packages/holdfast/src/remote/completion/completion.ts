import { basename } from 'node:path'
import { programName } from '@holdfast/credentials-file/messages'
import { usageError } from '../errors.ts'
import type { ClientVerb, VerbArguments } from '../client-verb.ts'
import { print } from '../../terminal/print.ts'
import { completionScript, shells, type Shell } from './completion-script.ts'

/** `holdfast completion [SHELL]`. */
export const completion: ClientVerb = {
  command: 'completion [shell]',
  describe: 'Print a script by which a shell completes commands, options and names',
  flags: [],
  options: (yargs) =>
    yargs
      .positional('shell', { choices: shells, describe: 'Without it, the one that $SHELL names' })
      .example('source <($0 completion bash)', 'in ~/.bashrc')
      .example('source <($0 completion zsh)', 'in ~/.zshrc, after compinit')
      .example('$0 completion fish > ~/.config/fish/completions/holdfast.fish', '')
      .epilog(
        'Names on the server are completed if there is a login, for get, cat, ls, rm, stat and link.',
      ),
  async run(argv) {
    await print(completionScript(shellFrom(argv, process.env['SHELL']), programName()))
    return 0
  },
}

function shellFrom({ '--': [stray] = [], ...argv }: VerbArguments, ownShell = ''): Shell {
  if (stray !== undefined) throw usageError(`No words are allowed after "--": "${stray}".`)
  const name = argv['shell'] ?? basename(ownShell)
  const shell = shells.find((each) => each === name)
  if (shell === undefined) throw usageError(`Say which shell: ${shells.join(', ')}.`)
  return shell
}
