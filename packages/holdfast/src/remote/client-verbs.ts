import { cat } from './get/cat.ts'
import type { ClientVerb } from './verb/client-verb.ts'
import { login } from './login/login.ts'
import { logout } from './login/logout.ts'

/** Every command that speaks to a server, in the order of the help. */
export const clientVerbs: readonly ClientVerb[] = [login, logout, cat]

/** What yargs takes for the verb: the first word that is no flag. */
export function clientVerbIn(args: readonly string[]): ClientVerb | undefined {
  const word = args.find((arg) => !arg.startsWith('-'))
  return clientVerbs.find(({ command }) => command.split(' ', 1)[0] === word)
}
