import { readdir, readFile, chmod, mkdir, open, rm, type FileHandle } from 'node:fs/promises'
import { dirname, join, isAbsolute } from 'node:path'
import { homedir, userInfo } from 'node:os'
import writeFileAtomic from 'write-file-atomic'
import { messageOf } from '@holdfast/core'
import { CommandError, exitCodes, usageError } from './errors.ts'

/** The address of a server, and a customer's name and password there. */
export interface Login {
  /** The name of the profile that it is from; `undefined` for the one without a name, and for variables. */
  readonly profile?: string | undefined
  readonly url: string
  readonly name: string
  readonly password: string
}

/**
 * The saved login of a profile, the login from the environment variables, or the saved one without a name. Never a mixture: a password goes
 * only to the server that it is for.
 *
 * @param flag the profile that the command line names; otherwise `HOLDFAST_PROFILE` may name one
 *
 * @throws CommandError if there is none
 */
export async function findLogin(environment: NodeJS.ProcessEnv, flag?: string): Promise<Login> {
  if (flag !== undefined) return keptLogin(environment, flag)
  const { HOLDFAST_URL: url = '', HOLDFAST_NAME: name = '' } = environment
  const { HOLDFAST_PASSWORD: password = '', HOLDFAST_PASSWORD_FILE: file = '' } = environment
  const profile = profileOf(environment)
  if (url === '' && name === '' && password === '' && file === '') {
    return keptLogin(environment, profile)
  }
  if (profile !== undefined) {
    throw new CommandError(
      exitCodes.login,
      `HOLDFAST_PROFILE and ${url === '' ? 'another variable of a login' : 'HOLDFAST_URL'} are both set; unset one of them`,
      ['Or name the profile with --profile.'],
    )
  }
  const missing = [
    ...(url === '' ? ['HOLDFAST_URL'] : []),
    ...(name === '' ? ['HOLDFAST_NAME'] : []),
    ...(password === '' && file === '' ? ['HOLDFAST_PASSWORD or HOLDFAST_PASSWORD_FILE'] : []),
  ]
  if (missing.length > 0) {
    throw new CommandError(
      exitCodes.login,
      `The login is incomplete: set ${missing.join(', ')}, too`,
      ['Or unset the others, to use the one that "holdfast login" has saved.'],
    )
  }
  if (password !== '' && file !== '') {
    throw new CommandError(
      exitCodes.login,
      'HOLDFAST_PASSWORD and HOLDFAST_PASSWORD_FILE are both set; unset one of them',
    )
  }
  return { url, name, password: password === '' ? await passwordIn(file) : password }
}

async function keptLogin(
  environment: NodeJS.ProcessEnv,
  profile: string | undefined,
): Promise<Login> {
  const login = await readProfile(profilePath(environment, profile))
  if (login) return profile === undefined ? login : { ...login, profile }
  if (profile === undefined) {
    throw new CommandError(exitCodes.login, 'There is no login', [
      'Run holdfast login URL, or set HOLDFAST_URL, HOLDFAST_NAME and HOLDFAST_PASSWORD.',
    ])
  }
  const others = await profileNames(environment)
  const known = others.length === 0 ? 'None is saved yet' : `Those saved are ${others.join(', ')}`
  throw new CommandError(exitCodes.login, `There is no login of the profile "${profile}"`, [
    `${known}; holdfast login URL --profile ${profile} makes it.`,
  ])
}

/** The profile that the environment names, if it names one. */
export function profileOf({ HOLDFAST_PROFILE: name = '' }: NodeJS.ProcessEnv): string | undefined {
  return name === '' ? undefined : name
}

/** The names of all profiles, sorted. */
export async function profileNames(environment: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const files = await readdir(dirname(profilePath(environment, 'x'))).catch(() => [])
  return files.flatMap((file) => /^(.+)\.json$/.exec(file)?.[1] ?? []).toSorted()
}

async function passwordIn(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).replace(/\r?\n$/, '')
  } catch (error) {
    const reason = messageOf(error)
    throw new CommandError(exitCodes.login, `HOLDFAST_PASSWORD_FILE cannot be read (${reason})`)
  }
}

/**
 * Where the login of a profile is saved; without one, that of the only server.
 *
 * @throws CommandError for a name that a file should not have
 */
export function profilePath(environment: NodeJS.ProcessEnv, profile?: string): string {
  const directory = userDirectory('XDG_CONFIG_HOME', environment)
  if (profile === undefined) return join(directory, 'profile.json')
  if (/^\w[\w.-]{0,63}$/.test(profile)) return join(directory, 'profiles', `${profile}.json`)
  throw usageError(`"${profile}" cannot be the name of a profile`, [
    'Use up to 64 letters, digits, dots, dashes and underscores.',
  ])
}

/**
 * The login saved in `path`; `undefined` if there is none.
 *
 * @throws CommandError if others may read it, or it is no login
 */
async function readProfile(path: string): Promise<Login | undefined> {
  const file = await open(path).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw unreadable(path, error)
  })
  if (file === undefined) return undefined
  try {
    await refuseOpenToOthers(file, path)
    return parse(await file.readFile('utf8'), path)
  } finally {
    await file.close()
  }
}

/** Saves a login for this user only, in place of the one before. */
export async function writeProfile(path: string, login: Login): Promise<void> {
  const directory = dirname(path)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  // The directory may have existed before, open to others.
  await chmod(directory, 0o700)
  const { url, name, password } = login
  await writeFileAtomic(path, `${JSON.stringify({ url, name, password }, undefined, 2)}\n`, {
    mode: 0o600,
  })
}

/** Resolves with whether there was one. */
export async function removeProfile(path: string): Promise<boolean> {
  try {
    await rm(path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw unreadable(path, error)
  }
}

async function refuseOpenToOthers(file: FileHandle, path: string): Promise<void> {
  // Windows has no such permissions.
  if (process.platform === 'win32') return
  const { mode } = await file.stat()
  if ((mode & 0o077) === 0) return
  throw new CommandError(
    exitCodes.login,
    `${path} contains a password, and users other than its owner have access to it`,
    [`chmod 600 ${path}, and change the password if others may have read it.`],
  )
}

function parse(text: string, path: string): Login {
  const broken = (cause?: unknown) =>
    new CommandError(
      exitCodes.login,
      `${path} contains no login`,
      ['Run holdfast login again.'],
      cause,
    )
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    throw broken(error)
  }
  const { url, name, password } = (parsed ?? {}) as Readonly<Record<string, unknown>>
  if (typeof url !== 'string' || typeof name !== 'string' || typeof password !== 'string') {
    throw broken()
  }
  return { url, name, password }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}

function unreadable(path: string, error: unknown): CommandError {
  const reason = messageOf(error)
  return new CommandError(exitCodes.login, `${path} cannot be used (${reason})`, [], error)
}

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
