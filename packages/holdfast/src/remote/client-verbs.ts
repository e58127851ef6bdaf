import { completion } from './completion/answer-shell.ts'
import { du, ls, stat } from './ls.ts'
import { link } from './link.ts'
import { mv, rm } from './rm-and-mv.ts'
import { restore, versions } from './history.ts'
import { cat, get } from './get/get.ts'
import { login, logout, whoami } from './login.ts'
import { put } from './put/put.ts'
import { pull, sync, verify } from './sync/verbs.ts'
import type { ClientVerb } from './client-verb.ts'

/** Every command that sends requests to a server, in the order of the help. */
export const clientVerbs: readonly ClientVerb[] = [
  login,
  logout,
  whoami,
  put,
  get,
  cat,
  ls,
  stat,
  mv,
  rm,
  versions,
  restore,
  link,
  du,
  sync,
  pull,
  verify,
  completion,
]

/** The names of the commands. */
export const verbNames = clientVerbs.map(nameOf)

/** A help text with words for people in place of `[names..]`. */
export function withPlainWords(help: string): string {
  return clientVerbs.reduce((text, { command, words = 'NAME...' }) => {
    if (!command.includes('[names..]')) return text
    const named = text.replaceAll(command, command.replace('[names..]', words))
    return named === text ? text : named.replace('Arguments:\n  names', `Arguments:\n  ${words}`)
  }, help)
}

/** The first word that is no flag, which yargs takes for the command. */
export function commandIn(args: readonly string[]): string | undefined {
  return args.find((arg) => !arg.startsWith('-'))
}

/**
 * Whether `args` call `versions purge`, which works on the store and not on a server. The versions of a file called `purge` are shown by
 * `versions -- purge`.
 */
export function isVersionsPurge(args: readonly string[]): boolean {
  const at = args.findIndex((arg) => !arg.startsWith('-'))
  return args[at] === 'versions' && args[at + 1] === 'purge'
}

/** The verb that `args` call, if there is one. */
export function clientVerbIn(args: readonly string[]): ClientVerb | undefined {
  if (isVersionsPurge(args)) return undefined
  const word = commandIn(args)
  return clientVerbs.find((verb) => nameOf(verb) === word)
}

function nameOf({ command }: ClientVerb): string {
  return command.split(' ', 1)[0] ?? ''
}
