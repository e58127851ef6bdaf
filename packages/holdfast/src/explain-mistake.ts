import { closestWord } from '@holdfast/core'
import { programName } from '@holdfast/credentials-file/messages'
import { secretRemedy } from '@holdfast/server/config'
import { customersCommandNames } from './customers.ts'

/** The first line of yargs' message about unknown words; yargs is set to English. */
const unknown = /^Unknown arguments?: (.*)$/m

/** One-letter options that people know from system commands. */
const habits: Readonly<Record<string, { readonly letters: RegExp; readonly hint: string }>> = {
  ls: {
    letters: /^[alA1]+$/,
    hint: 'Use -l for sizes and times; names that begin with a dot are listed without an option.',
  },
  mv: {
    letters: /^[finv]+$/,
    hint: 'mv replaces a file of the new name without a question; --no-clobber keeps it.',
  },
  rm: {
    letters: /^[rRfiv]+$/,
    hint: 'rm needs no options: it asks nothing, and there are no folders.',
  },
}

/** The words that a mistyped word may have been meant as. */
export interface KnownWords {
  readonly commands: readonly string[]
  /** Of all commands. */
  readonly flags: readonly string[]
  /** The options of the current command. */
  readonly own: readonly string[]
}

/** The `message` of yargs about `args`, with what was probably meant and where to read more. */
export function explainMistake(
  message: string,
  args: readonly string[],
  known: KnownWords,
): string {
  const [command = '', second = ''] = args.filter((arg) => !arg.startsWith('-'))
  const wanted = commandFor(command)
  if (wanted !== undefined) {
    return `${programName()} ${wanted} does that.\nSee ${programName()} ${wanted} --help.`
  }
  const see = `See ${programName()} --help.`
  if (command !== '' && command === args[0] && !known.commands.includes(command)) {
    const hints = meantBy(command, known.commands)
    return [`There is no command "${command}".`, ...hints, see].join('\n')
  }
  if (command === 'customers' && second !== '' && !customersCommandNames.includes(second)) {
    const [hint = `After customers comes one of ${customersCommandNames.join(', ')}.`] = meantBy(
      second,
      customersCommandNames,
    )
    return [message, hint, see].join('\n')
  }
  const words = unknown.exec(message)?.[1]?.split(', ') ?? []
  return [message, ...words.flatMap((word) => hintsFor(word, args, known)), see].join('\n')
}

/** The names that other programs give to the commands. */
const commands: Readonly<Record<string, string>> = {
  list: 'ls',
  dir: 'ls',
  delete: 'rm',
  remove: 'rm',
  del: 'rm',
  move: 'mv',
  rename: 'mv',
  upload: 'put',
  send: 'put',
  push: 'put',
  download: 'get',
  fetch: 'get',
  check: 'verify',
  show: 'cat',
  info: 'stat',
  history: 'versions',
  undelete: 'restore',
  recover: 'restore',
  share: 'link',
  url: 'link',
  df: 'du',
  quota: 'du',
  mirror: 'sync',
  rsync: 'sync',
  start: 'serve',
  run: 'serve',
}

/** The command that a user means by `word`, a name from another program. */
function commandFor(word: string): string | undefined {
  return Object.hasOwn(commands, word) ? commands[word] : undefined
}

function meantBy(word: string, words: readonly string[]): readonly string[] {
  const meant = closestWord(word, words)
  return meant === undefined ? [] : [`Did you mean ${meant}?`]
}

function hintsFor(
  word: string,
  args: readonly string[],
  { flags, own }: KnownWords,
): readonly string[] {
  const remedy = secretRemedy(word)
  if (remedy !== undefined) {
    return [`--${word} is not accepted, since flags show in the list of processes; ${remedy}.`]
  }
  if (word === 'password') {
    return [
      '--password is not accepted, since flags show in the list of processes; use --password-stdin.',
    ]
  }
  const habit = habits[args[0] ?? '']
  if (habit?.letters.test(word) && args.includes(`-${word}`)) return [habit.hint]
  const isFlag = args.some((arg) => arg.split('=', 1)[0] === `--${word}`)
  if (isFlag && flags.includes(word)) return [`--${word} belongs to another command.`]
  const meant = closestWord(word, own) ?? (isFlag ? beginningWith(word, own) : undefined)
  return meant === undefined ? [] : [`Did you mean --${meant}?`]
}

function beginningWith(word: string, flags: readonly string[]): string | undefined {
  const [only, other] = word.length < 3 ? [] : flags.filter((flag) => flag.startsWith(word))
  return other === undefined ? only : undefined
}
