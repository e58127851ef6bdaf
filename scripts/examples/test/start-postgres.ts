import { execFileSync, spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

/** A PostgreSQL of its own, which listens on no port but on a socket in a folder of its own. */
export interface Postgres {
  /** Of an empty database, with a user who may do everything there. */
  readonly url: string
  start(): Promise<void>
  /** Ends it, and every connection with it. Its data stay. */
  stop(): Promise<void>
  /** Ends it, and removes its data. */
  remove(): Promise<void>
}

type Program = ChildProcessByStdio<null, null, Readable>

const ready = 'database system is ready to accept connections'

/** Makes a database and starts it. PostgreSQL refuses to run as root, so root has `nobody` run it. */
export async function startPostgres(): Promise<Postgres> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-postgres-'))
  const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : undefined
  if (user) chownSync(folder, user.uid, user.gid)
  const data = ['-D', join(folder, 'data')]
  const run = (program: string, args: readonly string[]): Program =>
    spawn(pathOf(program), [...data, ...args], {
      cwd: folder,
      ...user,
      stdio: ['ignore', 'ignore', 'pipe'],
    })

  let server: Program | undefined
  const postgres: Postgres = {
    url: `postgres:///postgres?host=${encodeURIComponent(folder)}&user=tester`,
    async start() {
      // Nothing that a test stores has to survive a power cut.
      server = run('postgres', ['-k', folder, '-h', '', '-F'])
      process.once('exit', () => server?.kill('SIGQUIT'))
      await hears(server, ready)
    },
    async stop() {
      if (server?.exitCode !== null) return
      // To PostgreSQL this means: cut every connection, and end.
      server.kill('SIGINT')
      await once(server, 'close')
    },
    async remove() {
      await postgres.stop()
      rmSync(folder, { recursive: true })
    },
  }
  try {
    const initdb = run('initdb', ['-U', 'tester', '-A', 'trust', '-E', 'UTF8', '--no-locale', '-N'])
    await hears(initdb)
    await postgres.start()
    return postgres
  } catch (error) {
    await postgres.remove()
    throw error
  }
}

/** Resolves once `program` has said `words`, or has ended well where nothing is waited for. */
async function hears(program: Program, words?: string): Promise<void> {
  let said = ''
  for await (const chunk of program.stderr.iterator({ destroyOnReturn: false })) {
    said += String(chunk)
    if (words === undefined || !said.includes(words)) continue
    // Somebody has to read on, or it waits for ever when it says more.
    program.stderr.resume()
    return
  }
  if (program.exitCode === null) await once(program, 'exit')
  if (words !== undefined || program.exitCode !== 0)
    throw new Error(`PostgreSQL did not start: ${said}`)
}

function idOf(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'nobody']))
}

/** Debian keeps the programs of each version apart, where no shell looks. */
function pathOf(program: string): string {
  return globSync(`/usr/lib/postgresql/*/bin/${program}`).sort().at(-1) ?? program
}
