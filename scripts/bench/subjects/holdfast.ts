import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hashPassword } from '../../../packages/credentials-file/dist/index.js'
import { findFreePort } from '../../../packages/testing/src/machine.ts'
import { secured } from './secured.ts'
import { startProcess } from './start-process.ts'
import type { Dialect, RunningSubject, StartOptions, Subject } from './subject.ts'

const password = 'measured'

/** What every request of the one customer carries. */
export const credentials = { 'x-auth-name': 'demo', 'x-auth-password': password }

const headers = credentials

/** How holdfast wants to be asked, whatever it keeps files on. */
export const holdfastDialect: Required<Dialect> = {
  ping: () => ({ method: 'GET', path: '/ping' }),
  get: (name) => ({ method: 'GET', path: `/serve/${name}`, headers }),
  form: () => ({ method: 'POST', path: '/upload', headers }),
  put: (name) => ({ method: 'PUT', path: `/upload/${name}`, headers }),
  tus: () => ({ method: 'POST', path: '/resumable', headers }),
  remove: (name) => ({ method: 'DELETE', path: `/delete/${name}`, headers }),
  list: () => ({ method: 'GET', path: '/list', headers }),
}

/** Writes a file with the one customer, whose password is a hash as it should be; resolves with the path. */
export async function customersFile(directory: string): Promise<string> {
  const path = join(directory, 'customers.yaml')
  const text = `customers:\n  - name: demo\n    password: ${await hashPassword(password)}\n`
  await writeFile(path, text, { mode: 0o600 })
  return path
}

/**
 * The built server of the checkout at `root`, as it would run in production: with its defaults, on a disk store, with
 * authentication, and with its log, a line for each request, in a file.
 */
export function createHoldfast(name: string, root: string): Subject {
  const folder = commandIn(root)
  const program = join(folder, 'bin/holdfast.js')
  return {
    name,
    lookUp: async () => {
      const text = await readFile(join(folder, 'package.json'), 'utf8')
      return { version: (JSON.parse(text) as { version: string }).version }
    },
    start: (directory, options) => {
      const imports = options?.preloaded?.flatMap((module) => ['--import', module]) ?? []
      const command = [process.execPath, ...imports, program] as const
      return startHoldfast(name, command, directory, options)
    },
  }
}

/** Starts the server of the command that is called so, with what goes before its verb. */
export async function startHoldfast(
  name: string,
  client: readonly [string, ...string[]],
  directory: string,
  { environment, tls }: StartOptions = {},
): Promise<RunningSubject> {
  const [port, data] = [await findFreePort(), join(directory, 'data')]
  const [command, ...before] = client
  const child = await startProcess({
    command,
    args: [...before, 'serve'],
    environment: {
      HOLDFAST_PORT: `${port}`,
      HOLDFAST_DATA: data,
      HOLDFAST_CUSTOMERS: await customersFile(directory),
      ...(tls && { HOLDFAST_TLS_CERT: tls.certificate, HOLDFAST_TLS_KEY: tls.key }),
      ...environment,
    },
    log: join(directory, 'log'),
    port,
  })
  const files = join(data, 'files/demo')
  await mkdir(files, { recursive: true })
  const dialect = tls ? secured(holdfastDialect) : holdfastDialect
  return { ...dialect, ...child, name, port, files, client }
}

/** The package with the command. It was `server` once, and older checkouts are measured as well. */
function commandIn(root: string): string {
  const [now, earlier] = [join(root, 'packages/holdfast'), join(root, 'packages/server')]
  return existsSync(now) ? now : earlier
}
