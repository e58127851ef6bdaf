import { createClient, isHoldfastError, type Usage } from '@holdfast/client'
import { isLoopbackHost } from '@holdfast/core'
import { headerProblem } from '@holdfast/credentials-file/messages'
import { ask, readPassword } from '../terminal/ask.ts'
import { standardError, shown } from '../terminal/print.ts'
import { usageError, explain } from './errors.ts'
import { type ClientVerb, type VerbArguments, textIn, withJson } from './client-verb.ts'
import { createReport } from './report.ts'
import { profileOf, profilePath, writeProfile, type Login, removeProfile } from './profile.ts'
import { withRemote } from './session.ts'
import { off } from '../terminal/yargs.ts'

/** `holdfast login URL`. */
export const login: ClientVerb = {
  command: 'login [url]',
  describe: 'Save the name and the password for a server',
  flags: ['name', 'password-stdin'],
  options: (yargs) =>
    withJson(yargs)
      .positional('url', { type: 'string', describe: 'Such as https://files.example.com' })
      .option('name', {
        type: 'string',
        requiresArg: true,
        describe: 'The customer; asked for on the terminal without it',
      })
      .option('password-stdin', {
        ...off,
        describe: 'Take the password from standard input instead of the terminal',
      })
      .example('$0 login https://files.example.com', 'asks for name and password')
      .example('$0 login https://files.work.example --profile work', 'for one of several servers')
      .example(
        'pass show files | $0 login https://files.example.com --name alice --password-stdin',
        '',
      )
      .epilog(
        'They are saved only if the server accepts them, in $XDG_CONFIG_HOME/holdfast/profile.json, which only you may read; with --profile work in profiles/work.json there, which commands use with --profile work, or where HOLDFAST_PROFILE is work. Instead of a login, HOLDFAST_URL, HOLDFAST_NAME and HOLDFAST_PASSWORD (or HOLDFAST_PASSWORD_FILE) may be set.',
      ),
  run: runLogin,
}

/** `holdfast logout`. */
export const logout: ClientVerb = {
  command: 'logout',
  describe: 'Delete the saved name and password',
  flags: [],
  options: withJson,
  run: runLogout,
}

/** Saves a login that the server has accepted; resolves with the exit code. */
async function runLogin(argv: VerbArguments): Promise<number> {
  const profile = profileIn(argv)
  const path = profilePath(process.env, profile)
  const login = await loginFrom(argv)
  await checkLogin(login)
  await writeProfile(path, login)
  const { url, name } = login
  const report = createReport({ isJson: argv.json === true, isQuiet: argv['quiet'] === true })
  await report.done(
    { url, name, profile: path },
    `Logged in to ${url} as "${name}"${profile === undefined ? '' : `, in the profile "${profile}"`}.`,
  )
  return report.exitCode()
}

async function loginFrom(argv: VerbArguments): Promise<Login> {
  const url = await serverUrl(argv)
  warnOfPlainHttp(url)
  const isGiven = argv['password-stdin'] === true
  const name = textIn(argv, 'name') ?? (await askName(isGiven))
  const problem = headerProblem(name)
  if (problem !== undefined) throw usageError(`The name "${name}" ${problem}.`)
  const password = isGiven ? await readPassword(process.stdin) : await askPassword()
  return { url: url.href, name, password }
}

async function serverUrl(argv: VerbArguments): Promise<URL> {
  const words = [...(typeof argv['url'] === 'string' ? [argv['url']] : []), ...(argv['--'] ?? [])]
  const [given, second] = words
  const word = given ?? (process.stdin.isTTY ? await ask('Server: ', { isSecret: false }) : given)
  if (word === undefined || second !== undefined) {
    throw usageError('Say the address of one server', [
      'Such as: holdfast login https://files.example.com',
    ])
  }
  const url = URL.parse(word)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw usageError(`"${word}" is not the address of a server`, [
      'Write it with https:// or http://.',
    ])
  }
  if (url.username !== '' || url.password !== '') {
    throw usageError('The address has credentials in it, which show in the list of processes', [
      'Leave them out, and use --name and --password-stdin.',
    ])
  }
  url.search = url.hash = ''
  return url
}

function warnOfPlainHttp({ protocol, hostname }: URL): void {
  if (protocol === 'https:' || isLoopbackHost(hostname)) return
  standardError().write(
    'holdfast: The password goes over the network as plain text; use https://.\n',
  )
}

async function askName(isPasswordGiven: boolean): Promise<string> {
  if (isPasswordGiven || !process.stdin.isTTY) throw usageError('Say the customer with --name.')
  return ask('Name: ', { isSecret: false })
}

async function askPassword(): Promise<string> {
  if (!process.stdin.isTTY) {
    throw usageError('Standard input is not a terminal', [
      'Give the password with --password-stdin.',
    ])
  }
  const password = await ask('Password: ', { isSecret: true })
  const problem = headerProblem(password)
  if (problem !== undefined) throw usageError(`The password ${problem}.`)
  return password
}

/** Checks the login by a request that only a customer may make. */
async function checkLogin(login: Login): Promise<void> {
  try {
    // Users who mistyped the address should not wait long.
    await createClient({ ...login, retries: 1 }).usage()
  } catch (error) {
    if (!isHoldfastError(error)) throw error
    // Only a login that was accepted learns what it may not do.
    if (error.code === 'not-allowed') return
    throw explain(error, `The login at ${login.url} failed`)
  }
}

/** Deletes the saved login; resolves with the exit code. */
async function runLogout(argv: VerbArguments): Promise<number> {
  const profile = profileIn(argv)
  const path = profilePath(process.env, profile)
  const removed = await removeProfile(path)
  const report = createReport({ isJson: argv.json === true, isQuiet: argv['quiet'] === true })
  const of = profile === undefined ? '' : ` of the profile "${profile}"`
  const text = removed ? `Deleted the login${of}.` : `There was no login${of}.`
  await report.done(
    { profile: path, removed },
    profile === undefined && removed ? 'Logged out.' : text,
  )
  return report.exitCode()
}

function profileIn(argv: VerbArguments): string | undefined {
  return textIn(argv, 'profile') ?? profileOf(process.env)
}

/** `holdfast whoami`. */
export const whoami: ClientVerb = {
  command: 'whoami',
  describe: 'Show the server, the name and what it may do',
  flags: [],
  options: (yargs) =>
    withJson(yargs)
      .example('$0 whoami', '')
      .epilog(
        'It asks the server, so that it also shows whether the login is still good. A login that may not list does not learn what else it may do.',
      ),
  run: (argv) =>
    withRemote(argv, async ({ client, login: { url, name, profile }, report, signal }) => {
      const may = await rightsOf(() => client.usage({ signal }))
      const rights =
        may === 'unknown' ? 'not list' : `do ${may === undefined ? 'everything' : 'this'}`
      const list = Array.isArray(may) ? `: ${may.join(', ')}` : ''
      const fields = {
        url,
        name,
        ...(profile !== undefined && { profile }),
        may: may === 'unknown' ? null : (may ?? 'full'),
      }
      await report.result(
        fields,
        `${shown(name)} at ${shown(url)}${profile === undefined ? '' : ` (profile ${profile})`} may ${rights}${list}`,
      )
    }),
}

/** Those that the server names; `undefined` for all; `unknown` for a login that may not ask. */
async function rightsOf(usage: () => Promise<Usage>): Promise<Usage['may'] | 'unknown'> {
  try {
    return (await usage()).may
  } catch (error) {
    if (isHoldfastError(error, 'not-allowed')) return 'unknown'
    throw error
  }
}
