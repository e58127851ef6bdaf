import { spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createClient, type Client } from '@holdfast/client'
import {
  credentials,
  holdfastProgram,
  runHoldfast,
  useHoldfast,
  type HoldfastServer,
  type Outcome,
  type Site,
} from '@holdfast/testing'

/** A command that runs. */
export interface RunningCommand {
  readonly child: ChildProcess
  /** Its exit code or the signal, and what it has said. */
  readonly ended: Promise<{
    readonly end: number | string | null
    readonly stdout: string
    readonly stderr: string
  }>
}

export interface LoggedIn {
  readonly site: Site
  readonly server: () => HoldfastServer
  /** Of the customer, without the command. */
  readonly client: () => Client
  /** Runs a verb to its end, against another port if there is one. */
  readonly run: (args: readonly string[], options?: RunOptions) => Promise<Outcome>
  readonly start: (args: readonly string[], options?: StartOptions) => RunningCommand
  readonly env: (port?: number) => Readonly<Record<string, string>>
}

export interface RunOptions {
  readonly port?: number
  readonly input?: string
  readonly obeysPermissions?: boolean
}

interface StartOptions {
  readonly port?: number
  /** Options of Node.js, as in `NODE_OPTIONS`. */
  readonly nodeOptions?: string
}

/** A server for each test, and the command with the variables of its customer. */
export function useLogin(): LoggedIn {
  const holdfast = useHoldfast()
  const { site } = holdfast
  let server: HoldfastServer
  beforeEach(async () => {
    server = await holdfast.start()
  })
  const login = { name: credentials['x-auth-name'], password: credentials['x-auth-password'] }
  const env = (port = server.port) => ({
    HOME: site.path,
    XDG_STATE_HOME: join(site.path, 'state'),
    HOLDFAST_URL: `http://127.0.0.1:${port}`,
    HOLDFAST_NAME: login.name,
    HOLDFAST_PASSWORD: login.password,
  })
  return {
    site,
    server: () => server,
    client: () => createClient({ url: server.url, ...login }),
    env,
    run: (args, { port, ...options } = {}) =>
      runHoldfast(args, { cwd: site.path, env: env(port), ...options }),
    start(args, { port, nodeOptions } = {}) {
      const child = spawn(process.execPath, [holdfastProgram, ...args], {
        cwd: site.path,
        env: {
          ...process.env,
          ...env(port),
          ...(nodeOptions !== undefined && { NODE_OPTIONS: nodeOptions }),
        },
      })
      const ended = Promise.all([
        once(child, 'close') as Promise<[number | null, string | null]>,
        text(child.stdout),
        text(child.stderr),
      ]).then(([[code, signal], stdout, stderr]) => ({ end: signal ?? code, stdout, stderr }))
      return { child, ended }
    },
  }
}

export async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

/** Bytes of which no two places look alike. */
export function contentOf(size: number): Buffer {
  const bytes = Buffer.alloc(size)
  for (let at = 0; at + 4 <= size; at += 4)
    bytes.writeUInt32LE(Math.imul(at, 2_654_435_761) >>> 0, at)
  return bytes
}

export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

export const mebibyte = 1024 ** 2
