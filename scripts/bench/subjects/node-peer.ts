import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findFreePort } from '../../../packages/testing/src/machine.ts'
import { secured } from './secured.ts'
import { startProcess } from './start-process.ts'
import type { Dialect, RunningSubject, StartOptions, Subject } from './subject.ts'

/** As holdfast is asked, without credentials. */
export const plainDialect: Dialect = {
  ping: () => ({ method: 'GET', path: '/ping' }),
  get: (name) => ({ method: 'GET', path: `/serve/${name}` }),
  form: () => ({ method: 'POST', path: '/upload' }),
  remove: (name) => ({ method: 'DELETE', path: `/delete/${name}` }),
  list: () => ({ method: 'GET', path: '/list' }),
}

const folder = join(import.meta.dirname, '..')

/**
 * The application `peers/<name>.js` on the Node.js that runs this, which is asked as `own` says where that differs from
 * the others. Needs the packages of scripts/bench/package.json.
 */
export function createNodePeer(
  name: string,
  packages: readonly string[],
  own: Partial<Dialect> = {},
): Subject {
  const dialect = { ...plainDialect, ...own }
  return {
    name,
    lookUp: async () => {
      const versions = await Promise.all(packages.map(installedVersion))
      return versions.every((version) => version !== undefined)
        ? { version: packages.map((one, at) => `${one} ${versions[at]}`).join(', ') }
        : { missing: `${packages.join(' and ')} could not be installed from the npm registry` }
    },
    start: (directory, options) =>
      startNodeServer({ name, program: `peers/${name}.js`, dialect }, directory, options),
  }
}

/** A program of this folder for the Node.js that runs this. */
interface NodeServer {
  readonly name: string
  /** Its path from scripts/bench. */
  readonly program: string
  readonly dialect: Dialect
  readonly environment?: Readonly<Record<string, string>>
}

/** Starts the server, which gets PORT, DIRECTORY and, for HTTPS, CERTIFICATE and KEY from its environment. */
export async function startNodeServer(
  { name, program, dialect, environment }: NodeServer,
  directory: string,
  { tls }: StartOptions = {},
): Promise<RunningSubject> {
  const [port, files] = [await findFreePort(), join(directory, 'files')]
  await mkdir(files)
  const child = await startProcess({
    command: process.execPath,
    args: [join(folder, program)],
    environment: {
      ...{ NODE_ENV: 'production', PORT: `${port}`, DIRECTORY: files },
      ...(tls && { CERTIFICATE: tls.certificate, KEY: tls.key }),
      ...environment,
    },
    log: join(directory, 'log'),
    port,
  })
  return { ...(tls ? secured(dialect) : dialect), ...child, name, port, files }
}

async function installedVersion(name: string): Promise<string | undefined> {
  const manifest = join(folder, 'node_modules', name, 'package.json')
  const text = await readFile(manifest, 'utf8').catch(() => undefined)
  return text === undefined ? undefined : (JSON.parse(text) as { version: string }).version
}
