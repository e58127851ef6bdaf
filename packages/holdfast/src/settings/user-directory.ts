import { homedir, userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** The place below the home directory if the variable is not set. */
const defaults = { XDG_CONFIG_HOME: '.config', XDG_STATE_HOME: '.local/state' }

/**
 * Where this user's files of holdfast are (XDG Base Directory Specification: a relative path in the variable is ignored).
 *
 * @throws SystemError for a user without a home directory
 */
export function userDirectory(
  variable: keyof typeof defaults,
  environment: NodeJS.ProcessEnv,
): string {
  const { [variable]: base = '' } = environment
  return join(isAbsolute(base) ? base : join(home(), defaults[variable]), 'holdfast')
}

/** An empty HOME would mean the current directory. */
function home(): string {
  const path = homedir()
  return isAbsolute(path) ? path : userInfo().homedir
}
