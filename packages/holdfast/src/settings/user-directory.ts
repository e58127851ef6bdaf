import { homedir, userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** Where it is below the home directory without the variable. */
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

/** An empty HOME would be the directory that the command is started in. */
function home(): string {
  const path = homedir()
  return isAbsolute(path) ? path : userInfo().homedir
}
