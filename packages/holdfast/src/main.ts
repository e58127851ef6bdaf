import yargs, { type Argv } from 'yargs'
import { readFileSync } from 'node:fs'
import { carriesAdvice, SetupError } from '@holdfast/core'
import { programName } from '@holdfast/credentials-file'
import { settingNames, warnOfVariables } from '@holdfast/server/config'
import { copy, copyFlags, describeCopy, type CopyFlags } from './copy.ts'
import { customersCommands } from './customers.ts'
import { describeDoctor, doctor, doctorFlags, type DoctorFlags } from './doctor.ts'
import { explainMistake } from './explain-mistake.ts'
import { clientVerbIn, clientVerbs } from './remote/client-verbs.ts'
import { CommandError, usageError } from './remote/errors/command-error.ts'
import { exitCodes } from './remote/errors/exit-codes.ts'
import { describeServe, serve, type ServeFlags } from './serve.ts'
import { parserConfiguration } from './terminal/parser-configuration.ts'
import { standardError } from './terminal/standard-error.ts'
import { describeUsage, usage, usageFlags, type UsageFlags } from './usage.ts'

/** Every flag there is, for guessing which one was meant. */
const flags = [
  ...settingNames,
  ...copyFlags,
  ...usageFlags,
  ...doctorFlags,
  ...clientVerbs.flatMap((verb) => verb.flags),
  ...['config', 'quota', 'max-files', 'password-stdin', 'json', 'literal', 'help', 'version'],
]

/**
 * Runs the command line `holdfast ...args`; resolves with the exit code. Writes errors to standard error, without a
 * stack.
 */
export async function main(args: readonly string[]): Promise<number> {
  let exitCode = 0
  const verb = clientVerbIn(args)
  const run = (work: Promise<number>) => work.then((code) => void (exitCode = code))
  const cli: Argv = yargs([...args])
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
    .command('doctor', 'Find out what is wrong, and what to do', describeDoctor, (argv) =>
      run(doctor(argv as unknown as DoctorFlags)),
    )
  for (const { command, describe, options, run: runVerb } of clientVerbs) {
    cli.command(command, describe, options, (argv) => run(runVerb(argv)))
  }
  cli
    .middleware(({ _: [command] }) => {
      // A server warns in its log.
      if (command !== 'serve') warnOfVariables({ warn: say }, process.env)
    })
    .demandCommand(1, 'Say which command: serve, copy, customers, usage or doctor.')
    .example('$0 customers add alice', 'make a customer and print the password')
    .example('$0 serve --data ./data', 'run the server')
    .version(version())
    .alias('version', 'v')
    .alias('help', 'h')
    .strict()
    .recommendCommands()
    .parserConfiguration(parserConfiguration)
    .wrap(isHelpWanted(args) ? Math.min(110, process.stdout.columns || 110) : null)
    .exitProcess(false)
    // Our own messages are in English, so yargs' must be, too.
    .detectLocale(false)
    .fail((message, error: Error | undefined) => {
      // A command's own error is explained below. An error of yargs is a mistake in the command line.
      if (error !== undefined && error.name !== 'YError') throw error
      const mistake = explainMistake(error?.message ?? message, args, flags)
      throw verb ? usageError(mistake) : new SetupError(mistake)
    })
  try {
    await cli.parseAsync()
    return exitCode
  } catch (error) {
    say(explain(error))
    if (error instanceof CommandError) return error.exitCode
    // What a command refuses before it begins, such as a password that no header can carry.
    return verb && error instanceof SetupError ? exitCodes.usage : exitCodes.failed
  }
}

function say(message: string): void {
  standardError().write(`holdfast: ${message}\n`)
}

/** Yargs always makes the help, and breaking its lines is most of that work. */
function isHelpWanted(args: readonly string[]): boolean {
  return args.some((arg) => /^(--help|-h|help)(=|$)/.test(arg))
}

function explain(error: unknown): string {
  if (carriesAdvice(error)) return error.message
  if (error instanceof Error) return `${error.message} (this is unexpected; please report it)`
  return String(error)
}

/** The version of this package. */
function version(): string {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  )
  return (manifest as { version: string }).version
}
