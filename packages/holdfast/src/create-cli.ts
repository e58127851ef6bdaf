import { readFileSync } from 'node:fs'
import yargs, { type Argv } from 'yargs'
import { SetupError } from '@holdfast/core'
import { programName } from '@holdfast/credentials-file/messages'
import { settingNames, warnOfVariables } from '@holdfast/server/config'
import { copy, copyFlags, describeCopy, type CopyFlags } from './copy.ts'
import { customersCommands } from './customers.ts'
import { describeDoctor, doctor, doctorFlags, type DoctorFlags } from './doctor.ts'
import { eventsCommands, eventsFlags } from './events.ts'
import { explainMistake } from './explain-mistake.ts'
import { clientVerbs, commandIn, isVersionsPurge, verbNames } from './remote/client-verbs.ts'
import { usageError } from './remote/errors.ts'
import { selectionFlags } from './remote/selection.ts'
import { commonFlags } from './remote/client-verb.ts'
import { describeServe, serve, type ServeFlags } from './serve.ts'
import { purgeVersionsFlags, versionsCommands } from './purge-versions.ts'
import { parserConfiguration } from './terminal/yargs.ts'
import { describeUsage, usage, usageFlags, type UsageFlags } from './usage.ts'

/** All flags of all commands, to say that a flag belongs to another command. */
const flags = [
  ...settingNames,
  ...copyFlags,
  ...usageFlags,
  ...doctorFlags,
  ...eventsFlags,
  ...purgeVersionsFlags,
  ...clientVerbs.flatMap((verb) => verb.flags),
  ...commonFlags,
  ...selectionFlags,
  'limit-rate',
  ...['config', 'quota', 'max-files', 'password-stdin', 'json', 'literal', 'help', 'version'],
]

/** The commands that need no login at a server. */
export const serverCommands = ['serve', 'copy', 'customers', 'usage', 'events', 'doctor']

const whichCommand = `Say which command: ${serverCommands.slice(0, -1).join(', ')} or doctor; as a client ${verbNames.join(', ')}.`

const exitCodesText =
  'Exit codes of the client: 0 if all is done, 1 if something failed, 2 for a mistake in the command line, 3 without a login that the server accepts, 4 if what was named does not exist, 5 if a retry may succeed. If files failed for several reasons, it is 1.'

/** What to do with a parsed command line. */
export interface CliActions {
  /** Receives the work of a command, which has started; it resolves with the exit code. */
  readonly run: (work: Promise<number>) => Promise<void>
  readonly warn: (message: string) => void
}

/** The commands and flags of `holdfast`, for yargs to parse `args`, or to describe. */
export function createCli(args: readonly string[], { run, warn }: CliActions): Argv {
  const isPurge = isVersionsPurge(args)
  const isOfServer = isPurge || serverCommands.includes(commandIn(args) ?? '')
  const cli = yargs([...args])
    .scriptName(programName())
    .usage('$0 <command>\n\nA file storage service for many customers that loses nothing.')
    .command('serve', 'Run the server', describeServe, (argv) => run(serve(argv as ServeFlags)))
    .command('copy', 'Copy files from one store to another', describeCopy, (argv) =>
      run(copy(argv as unknown as CopyFlags)),
    )
    .command('customers', 'Edit and check the customers file', (inner) =>
      customersCommands(inner, run),
    )
    .command('usage [name]', 'Show how much customers keep', describeUsage, (argv) =>
      run(usage(argv as unknown as UsageFlags)),
    )
    .command('events', 'Send events to a receiver once more', (inner) => eventsCommands(inner, run))
    .command('doctor', 'Find out what is wrong, and what to do', describeDoctor, (argv) =>
      run(doctor(argv as unknown as DoctorFlags)),
    )
  if (isPurge) {
    cli.command('versions', 'Remove what is kept after it was replaced', (inner) =>
      versionsCommands(inner, run),
    )
  }
  for (const { command, describe, options, run: runVerb } of clientVerbs) {
    if (isPurge && command.startsWith('versions ')) continue
    cli.command(command, describe, options, (argv) => run(runVerb(argv)))
  }
  cli
    .middleware(({ _: [command] }) => {
      // When a command runs, yargs also lays out its help, and nothing shows it. The options take most of that time.
      if (command !== undefined) for (const name of optionsOf(cli)) cli.hide(name)
      // A server writes warnings to its log.
      if (command !== 'serve') warnOfVariables({ warn }, process.env)
    })
    .demandCommand(1, whichCommand)
    .example('$0 customers add alice', 'make a customer and print the password')
    .example('$0 serve --data ./data', 'run the server')
    .example('$0 login https://files.example.com', 'save the login for a server')
    .example('$0 put notes.txt', 'store a file there')
    .epilog(exitCodesText)
    .version(version())
    .alias('version', 'v')
    .alias('help', 'h')
    .strict()
    .parserConfiguration(parserConfiguration)
    // `main` breaks the lines.
    .wrap(null)
    .exitProcess(false)
    // Our own messages are in English, so yargs must use English, too.
    .detectLocale(false)
    .updateStrings({ 'Positionals:': 'Arguments:' })
    .fail((message, error: Error | undefined) => {
      // `main` explains a command's own error. An error of yargs is a mistake in the command line.
      if (error !== undefined && error.name !== 'YError') throw error
      const known = { commands: [...serverCommands, ...verbNames], flags, own: optionsOf(cli) }
      const mistake = explainMistake(error?.message ?? message, args, known)
      throw isOfServer ? new SetupError(mistake) : usageError(mistake)
    })
  return cli
}

/** The options of the current command. The types of yargs lack this method. */
function optionsOf(cli: Argv): readonly string[] {
  const { key } = (cli as Argv & { getOptions(): { readonly key: object } }).getOptions()
  return Object.keys(key).filter((name) => name.length > 1)
}

/** The version of this package. */
function version(): string {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  )
  return (manifest as { version: string }).version
}
