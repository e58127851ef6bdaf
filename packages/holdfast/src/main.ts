import { carriesAdvice, SetupError } from '@holdfast/core'
import { programName } from '@holdfast/credentials-file/messages'
import { visible } from '@holdfast/server/visible'
import { answerShell } from './remote/completion/answer-shell.ts'
import { createCli, serverCommands } from './create-cli.ts'
import { clientVerbIn, verbNames, withPlainWords } from './remote/client-verbs.ts'
import { formatHelp, hideWords, showWords } from './terminal/yargs.ts'
import { CommandError, exitCodes, isSystemError, reasonOf } from './remote/errors.ts'
import {
  failureMark,
  isReaderGone,
  print,
  UnwritableError,
  standardError,
} from './terminal/print.ts'

/**
 * Runs the command line `holdfast ...args`; resolves with the exit code. Writes errors to standard error, without a
 * stack.
 */
export async function main(args: readonly string[]): Promise<number> {
  try {
    if (args[0] === 'help' && args.length > 1) return await main([...args.slice(1), '--help'])
    if (args[0] === '--complete') return await completeFor(args.slice(1))
    if (isProgramHelpWanted(args)) return await printHelp()
    const verb = clientVerbIn(args)
    if (verb && isVerbHelpWanted(args)) return await printCommandHelp(verb.command.split(' ', 1))
    const command = verb ? undefined : commandOfHelp(args)
    if (command) return await printCommandHelp(command)
    return await runCommand(args)
  } catch (error) {
    if (isReaderGone(error)) return exitCodes.readerGone
    if (clientVerbIn(args) || error instanceof CommandError) return endVerb(error)
    say(explain(error), failureMark())
    return exitCodes.failed
  }
}

async function endVerb(error: unknown): Promise<number> {
  say(isSystemError(error) ? visible(reasonOf(error)) : explain(error), failureMark())
  if (error instanceof CommandError) return error.exitCode
  if (error instanceof UnwritableError) return exitCodes.failed
  // Errors before the work begins, such as a password that no header can carry, are usage errors.
  return error instanceof SetupError ? exitCodes.usage : exitCodes.failed
}

async function runCommand(args: readonly string[]): Promise<number> {
  let exitCode = 0
  const run = (work: Promise<number>) => work.then((code) => void (exitCode = code))
  const read = clientVerbIn(args) ? hideWords(args) : args
  let output = ''
  const cli = createCli(read, { run, warn: (message) => say(message) })
  await cli.parseAsync([...read], {}, (_error, _argv, text) => void (output = text))
  // The version, or the help where only yargs knows that a word `help` is not the value of an option.
  if (output !== '') await printLaidOut(output)
  return exitCode
}

async function completeFor(words: readonly string[]): Promise<number> {
  return answerShell(() => createCli([], describing), words)
}

const commands = [...serverCommands, ...verbNames]

function isProgramHelpWanted(args: readonly string[]): boolean {
  const isWanted = args.some((arg) => /^(--help|-h|help)(=|$)/.test(arg))
  return isWanted && !args.some((arg) => commands.includes(arg))
}

/** Words after `--` are no options, and a word `help` may be the name of a file. */
function isVerbHelpWanted(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  const options = end < 0 ? args : args.slice(0, end)
  return options.some((arg) => /^(--help|-h)(=|$)/.test(arg))
}

/**
 * The words of the command whose help is wanted, such as `customers add`; `undefined` if none is. A word after an option is a
 * command only if no other word is: it may be the value of the option.
 */
function commandOfHelp(args: readonly string[]): readonly string[] | undefined {
  const isWord = args.at(-1) === 'help' && !args.some((arg) => arg.startsWith('-'))
  const isCommand = (arg: string) => commands.includes(arg)
  const isFree = (arg: string, index: number) =>
    isCommand(arg) && args[index - 1]?.startsWith('-') !== true
  const at = args.some(isFree) ? args.findIndex(isFree) : args.findIndex(isCommand)
  if (at < 0 || !(isWord || isVerbHelpWanted(args))) return undefined
  const words = args.slice(at, at + 2)
  const end = words.findIndex((word) => word.startsWith('-') || word === 'help')
  return end < 0 ? words : words.slice(0, end)
}

async function printCommandHelp(command: readonly string[]): Promise<number> {
  await printLaidOut(await createCli(command, describing).getHelp())
  return 0
}

async function printLaidOut(help: string): Promise<void> {
  const width = Math.min(110, process.stdout.columns || 110)
  await print(`${formatHelp(withPlainWords(help), width)}\n`)
}

/** Yargs can show only one group of commands. */
async function printHelp(): Promise<number> {
  const help = await createCli([], describing).getHelp()
  const [firstOfClient = ''] = verbNames
  await printLaidOut(groupCommands(help, programName(), firstOfClient))
  return 0
}

/**
 * Splits the commands in a help text of yargs into two groups. Those of the server come first; those of the client begin with
 * `firstOfClient`.
 */
export function groupCommands(help: string, program: string, firstOfClient: string): string {
  const begin = `\n  ${program} ${firstOfClient} `
  return help
    .replace('\nCommands:\n', '\nServer commands:\n')
    .replace(begin, () => `\n\nClient commands:${begin}`)
}

/** For yargs when it runs no command. */
const describing = { run: () => Promise.resolve(), warn: () => {} }

/** Prints a message. Its line breaks are ours; other control characters come from servers and names, and are made harmless. */
function say(message: string, mark = 'holdfast:'): void {
  const lines = showWords(message).split('\n').map(visible)
  standardError().write(`${mark} ${lines.join('\n')}\n`)
}

function explain(error: unknown): string {
  if (carriesAdvice(error)) return error.message
  if (error instanceof Error) return `${error.message} (this is unexpected; please report it)`
  return String(error)
}
