import { readFile } from 'node:fs/promises'
import { CommandError } from '../errors/command-error.ts'
import { exitCodes } from '../errors/exit-codes.ts'
import { profilePath, readProfile, type Login } from './profile.ts'

/**
 * The login that the variables give, or otherwise the one that is kept. Never a mixture: a password goes to no other server than
 * the one that it is for.
 *
 * @throws CommandError if there is none
 */
export async function findLogin(environment: NodeJS.ProcessEnv): Promise<Login> {
  const { HOLDFAST_URL: url = '', HOLDFAST_NAME: name = '' } = environment
  const { HOLDFAST_PASSWORD: password = '', HOLDFAST_PASSWORD_FILE: file = '' } = environment
  if (url === '' && name === '' && password === '' && file === '') return keptLogin(environment)
  const missing = [
    ...(url === '' ? ['HOLDFAST_URL'] : []),
    ...(name === '' ? ['HOLDFAST_NAME'] : []),
    ...(password === '' && file === '' ? ['HOLDFAST_PASSWORD or HOLDFAST_PASSWORD_FILE'] : []),
  ]
  if (missing.length > 0) {
    throw new CommandError(
      exitCodes.login,
      `The login is incomplete: set ${missing.join(', ')}, too`,
      ['Or unset the others, to use the one that "holdfast login" keeps.'],
    )
  }
  if (password !== '' && file !== '') {
    throw new CommandError(
      exitCodes.login,
      'HOLDFAST_PASSWORD and HOLDFAST_PASSWORD_FILE are both set; which one counts is not clear',
    )
  }
  return { url, name, password: password === '' ? await passwordIn(file) : password }
}

async function keptLogin(environment: NodeJS.ProcessEnv): Promise<Login> {
  const login = await readProfile(profilePath(environment))
  if (login) return login
  throw new CommandError(exitCodes.login, 'There is no login', [
    'Run holdfast login URL, or set HOLDFAST_URL, HOLDFAST_NAME and HOLDFAST_PASSWORD.',
  ])
}

async function passwordIn(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).replace(/\r?\n$/, '')
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandError(exitCodes.login, `HOLDFAST_PASSWORD_FILE cannot be read (${reason})`)
  }
}
