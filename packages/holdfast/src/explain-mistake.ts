import { closestWord } from '@holdfast/core'
import { programName } from '@holdfast/credentials-file/messages'
import { secretRemedy } from '@holdfast/server/config'
import { customersCommandNames } from './customers.ts'
import { commandFor } from './help/command-for.ts'

/** The first line of yargs' message about what it does not know; its language is pinned to English. */
const unknown = /^Unknown arguments?: (.*)$/m

/** Letters that people know from commands of the system. */
const habits: Readonly<Record<string, { readonly letters: RegExp; readonly hint: string }>> = {
  ls: {
    letters: /^[alA1]+$/,
    hint: 'Use -l for sizes and times; names that begin with a dot are listed without an option.',
  },
  rm: {
    letters: /^[rRfiv]+$/,
    hint: 'rm needs no options: it asks nothing, and there are no folders.',
  },
}

/** The `message` of yargs about `args`, with the `flags` that were probably meant and where to read on. */
export function explainMistake(
  message: string,
  args: readonly string[],
  flags: readonly string[],
): string {
  const command = commandFor(args.find((arg) => !arg.startsWith('-')) ?? '')
  if (command !== undefined) {
    return `${programName()} ${command} does that.\nSee ${programName()} ${command} --help.`
  }
  const words = unknown.exec(message)?.[1]?.split(', ') ?? []
  const hints = words.flatMap((word) => hintsFor(word, args, flags))
  return [message, ...hints, `See ${programName()} --help.`].join('\n')
}

function hintsFor(
  word: string,
  args: readonly string[],
  flags: readonly string[],
): readonly string[] {
  const remedy = secretRemedy(word)
  if (remedy !== undefined) {
    return [`--${word} is not taken, since flags show in the list of processes; ${remedy}.`]
  }
  if (word === 'password') {
    return [
      '--password is not taken, since flags show in the list of processes; use --password-stdin.',
    ]
  }
  const habit = habits[args[0] ?? '']
  if (habit?.letters.test(word) && args.includes(`-${word}`)) return [habit.hint]
  const isFlag = args.some((arg) => arg.split('=', 1)[0] === `--${word}`)
  if (args[0] === 'customers' && args[1] === word) {
    return [`After customers comes one of ${customersCommandNames.join(', ')}.`]
  }
  if (isFlag && flags.includes(word)) return [`--${word} is of another command.`]
  const meant = closestWord(word, flags) ?? (isFlag ? beginningWith(word, flags) : undefined)
  return meant === undefined ? [] : [`Did you mean --${meant}?`]
}

function beginningWith(word: string, flags: readonly string[]): string | undefined {
  const [only, other] = word.length < 3 ? [] : flags.filter((flag) => flag.startsWith(word))
  return other === undefined ? only : undefined
}
