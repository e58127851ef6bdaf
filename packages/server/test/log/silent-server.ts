import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { createSite, credentials, holdfastProgram, type Site, until } from '@holdfast/testing'
import { expect } from 'chai'

/** A running `holdfast serve` whose log the test does not read. */
export interface SilentServer {
  readonly site: Site
  readonly pid: number
  /** Sends a request of the customer; resolves with the status. */
  ask(path: string, init?: RequestInit): Promise<number>
  /** The sum of a metric of all its processes. */
  metric(name: string): Promise<number>
  signal(name: NodeJS.Signals): void
  /** Resolves when the process is gone. */
  readonly ended: () => Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Starts the real `holdfast serve` by a line of bash, in which `serve` is the command as words; the line ends in the
 * server, as by `exec`. Its ports are taken from the system, since nothing of the log can be relied on.
 */
export async function startSilentServer(
  lineOf: (serve: string) => string,
  flags: readonly string[] = [],
  site?: Site,
): Promise<SilentServer> {
  const place = site ?? (await createSite())
  const ports = ['--port', '0', '--admin-port', '0', '--shutdown-grace', '5s']
  const command = [process.execPath, holdfastProgram, 'serve', ...ports, ...flags].map(
    (word) => `'${word}'`,
  )
  const pidFile = join(place.path, 'pid')
  await place.write(
    'serve.sh',
    `echo $$ > '${pidFile}.new'; mv '${pidFile}.new' '${pidFile}'; exec ${command.join(' ')}\n`,
  )
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDFAST_'))
  const child = spawn('bash', ['-c', lineOf('bash serve.sh')], {
    cwd: place.path,
    detached: true,
    // Nothing reads it.
    stdio: ['ignore', 'pipe', 'ignore'],
    env: Object.fromEntries(inherited),
  })
  await until('the server has a process', () => existsSync(pidFile))
  const pid = Number(readFileSync(pidFile, 'utf8'))
  const isGone = () => (statOf(pid)?.state ?? 'Z') === 'Z'
  const dispose = async () => {
    // Read before the first signal: `script` gives the server a group of its own, which the shell that it starts may lead.
    const groups = [child.pid, isGone() ? undefined : statOf(pid)?.group]
    for (const group of groups) if (group !== undefined) killGroup(group)
    await until('the server is killed', isGone)
    if (site === undefined) await place.remove()
  }
  try {
    const urls = await listeningUrls(pid, isGone)
    return {
      site: place,
      pid,
      async ask(path, init = {}) {
        const signal = AbortSignal.timeout(20_000)
        const answer = await fetch(urls.server + path, { headers: credentials, signal, ...init })
        await answer.arrayBuffer()
        return answer.status
      },
      async metric(name) {
        const signal = AbortSignal.timeout(20_000)
        const text = await (await fetch(`${urls.admin}/metrics`, { signal })).text()
        const samples = text.split('\n').filter((line) => /^\w+/.exec(line)?.[0] === name)
        expect(samples, name).not.to.be.empty
        return samples.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
      },
      signal: (name) => void process.kill(pid, name),
      ended: () => until('the server has ended', isGone),
      [Symbol.asyncDispose]: dispose,
    }
  } catch (error) {
    await dispose()
    throw error
  }
}

/** The state and the process group of a process, as proc_pid_stat(5) has them; `undefined` for one that is gone. */
function statOf(pid: number): { readonly state: string; readonly group: number } | undefined {
  try {
    const [, state = '', group] =
      /\) (\w) \d+ (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    return { state, group: Number(group) }
  } catch {
    return undefined
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** Where the process listens: only the admin port knows `/live`. */
async function listeningUrls(pid: number, isGone: () => boolean) {
  const found = { server: '', admin: '' }
  await until('it serves', async () => {
    if (isGone()) throw new Error('The server ended while it started')
    for (const port of listeningPorts(pid)) {
      const url = `http://127.0.0.1:${port}`
      const signal = AbortSignal.timeout(5_000)
      const answer = await fetch(`${url}/live`, { signal }).catch(() => undefined)
      await answer?.arrayBuffer()
      if (answer) found[answer.status === 200 ? 'admin' : 'server'] = url
    }
    return found.server !== '' && found.admin !== ''
  })
  return found
}

function listeningPorts(pid: number): readonly number[] {
  const sockets = new Set<string>()
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    try {
      sockets.add(readlinkSync(`/proc/${pid}/fd/${fd}`))
    } catch {
      // It was closed meanwhile.
    }
  }
  const rows = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1)
  return rows
    .map((row) => row.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === '0A' && sockets.has(`socket:[${inode}]`))
    .map(([, local = '']) => Number.parseInt(local.split(':')[1] ?? '', 16))
}
