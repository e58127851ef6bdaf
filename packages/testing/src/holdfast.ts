import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { join } from 'node:path'
import { equal, match, notEqual } from 'node:assert/strict'
import { childrenOf, residentMiB, repository } from './machine.ts'
import { until } from './until.ts'
import { createSite, type Site } from './site.ts'

export interface HoldfastOptions {
  /** The working directory. */
  readonly cwd: string
  /** Added to the environment of the tests, from which variables of holdfast are removed. */
  readonly env?: Readonly<Record<string, string>>
  /** Runs without root's privilege to read and write despite permissions. */
  readonly obeysPermissions?: boolean
  /** Runs in its own PID namespace, as in a container: no other server can look up its process. Needs Linux. */
  readonly hasOwnPidNamespace?: boolean
  /** The program file of `holdfast`, if a test needs a certain one: a script for Node.js, `….js`, or an executable. */
  readonly program?: string
  /** Its standard input. */
  readonly input?: string
}

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the real `holdfast` until it ends. */
export async function runHoldfast(
  args: readonly string[],
  options: HoldfastOptions,
): Promise<Outcome> {
  const child = start(args, options)
  child.stdin.end(options.input ?? '')
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ])
  return { code, stdout, stderr }
}

/** A line of the log. */
export type LogLine = Readonly<Record<string, unknown>>

/** A running `holdfast serve`. */
export interface HoldfastServer {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** The log so far. */
  lines(): readonly LogLine[]
  /** The log so far, as it was written. */
  output(): string
  /** Waits for a line whose message begins with `message`. */
  logged(message: string, times?: number): Promise<LogLine>
  signal(name: NodeJS.Signals): void
  /** Resolves with the exit code, or with the signal that killed it. */
  readonly ended: Promise<number | NodeJS.Signals | null>
  /** Kills it, unless it has ended. */
  kill(): Promise<void>
}

/** Starts the real `holdfast serve` on a free port, ready to answer. */
export async function startHoldfast(
  args: readonly string[],
  options: HoldfastOptions,
): Promise<HoldfastServer> {
  return serverOf(start(['serve', '--port', '0', ...args], options), options)
}

/** Starts the real `holdfast serve` by a bash script, which runs `holdfast serve …` alone or as its last command. */
export async function startHoldfastByShell(
  script: string,
  options: HoldfastOptions,
): Promise<HoldfastServer> {
  const shell = `holdfast() { exec "$HOLDFAST_NODE" "$HOLDFAST_BIN" "$@"; }\n${script}`
  const env = {
    ...environmentOf(options),
    HOLDFAST_NODE: process.execPath,
    HOLDFAST_BIN: holdfastProgram,
  }
  return serverOf(spawn('bash', ['-euc', shell], { cwd: options.cwd, env }), options)
}

async function serverOf(
  child: ChildProcessWithoutNullStreams,
  { hasOwnPidNamespace = false }: HoldfastOptions,
): Promise<HoldfastServer> {
  child.stdin.end()
  let output = ''
  let isOver = false
  const collect = (chunk: Buffer) => (output += chunk.toString())
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const ended = (once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>).then(
    ([code, signal]) => {
      isOver = true
      return signal ?? code
    },
  )
  const lines = () =>
    output
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as LogLine)
  const withMessage = (message: string) =>
    lines().filter((line) => String(line['msg']).startsWith(message))
  const server = {
    pid: child.pid ?? 0,
    lines,
    output: () => output,
    async logged(message: string, times = 1) {
      await until(
        () => `holdfast logs "${message}"; it said: ${output}`,
        () => withMessage(message).length >= times || isOver,
      )
      const line = withMessage(message)[times - 1]
      if (line === undefined) throw new Error(`holdfast never logged "${message}": ${output}`)
      return line
    },
    signal: (name: NodeJS.Signals) => void child.kill(name),
    ended,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
  const { url } = await server.logged('holdfast listens on ').catch(async (error: unknown) => {
    await server.kill()
    throw error
  })
  const place = { url: String(url), port: Number(new URL(String(url)).port) }
  if (!hasOwnPidNamespace) return { ...server, ...place }
  const [shell = 0] = await childrenOf(server.pid)
  const [pid = 0] = await childrenOf(shell)
  return { ...server, ...place, pid, signal: (name) => void process.kill(pid, name) }
}

function start(args: readonly string[], options: HoldfastOptions): ChildProcessWithoutNullStreams {
  const { cwd, obeysPermissions = false, program: file = holdfastProgram } = options
  const { hasOwnPidNamespace = false } = options
  // To run as another user would not do: the project may be in a directory that only root may read.
  const isTooMighty = obeysPermissions && process.getuid?.() === 0
  const [program = '', ...rest] = [
    ...(isTooMighty ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : []),
    ...(hasOwnPidNamespace ? newPidNamespace() : []),
    ...(file.endsWith('.js') ? [process.execPath] : []),
    file,
    ...args,
  ]
  return spawn(program, rest, { cwd, env: environmentOf(options) })
}

/** The command that runs another one in a new PID namespace, which ends with this command. */
function newPidNamespace(): readonly string[] {
  const asUser = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']
  // Otherwise this namespace would keep a copy of a mount that a test unmounts.
  const mounts = ['--mount-proc', '--propagation', 'slave']
  const own = ['--pid', '--fork', ...mounts, '--kill-child']
  // The shell becomes the first process of the namespace: that one could not stop itself by a signal.
  return ['unshare', ...asUser, ...own, 'sh', '-c', '"$@"; exit $?', 'sh']
}

function environmentOf({ env = {} }: HoldfastOptions): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDFAST_'))
  return { ...Object.fromEntries(inherited), ...env }
}

/** Starts `holdfast serve` in the tests of a suite. */
interface Holdfast {
  /** The site of the current test. */
  readonly site: Site
  /** Starts a server on the site; kills it after the test. */
  start(args?: readonly string[], options?: Omit<HoldfastOptions, 'cwd'>): Promise<HoldfastServer>
}

/** Makes a site before each test of the suite. After the test, kills the servers that it has started there, and removes the site. */
export function useHoldfast(): Holdfast {
  let made: Site | undefined
  const servers: HoldfastServer[] = []
  beforeEach(async () => {
    made = await createSite()
  })
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.kill()))
    await made?.remove()
  })

  const current = () => {
    if (made === undefined) throw new Error('There is a site only while a test runs')
    return made
  }
  return {
    site: {
      get path() {
        return current().path
      },
      write: (name, text) => current().write(name, text),
      litter: () => current().litter(),
      remove: () => current().remove(),
    },
    async start(args = [], options = {}) {
      const server = await startHoldfast(args, { ...options, cwd: current().path })
      servers.push(server)
      return server
    },
  }
}

/** A running `holdfast copy`. */
export interface CopyProcess {
  readonly kill: (signal: NodeJS.Signals) => void
  /** Its output on standard error so far. */
  readonly stderr: () => string
  readonly ended: Promise<CopyOutcome>
}

export interface CopyOutcome {
  /** The exit code, or the signal that killed it. */
  readonly end: number | NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  /** The most resident memory, in bytes, measured every 50 ms. */
  readonly peak: number
}

/** Starts the real `holdfast copy` with its output in pipes. */
export function startCopy(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): CopyProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDFAST_'))
  const child = spawn(process.execPath, [holdfastProgram, 'copy', ...args], {
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const text = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (text.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (text.stderr += chunk.toString()))
  let peak = 0
  const look = async () => {
    // Between the end of the process and its `exit` event there is nothing to measure.
    const { most } = await residentMiB(child.pid ?? 0).catch(() => ({ most: 0 }))
    peak = Math.max(peak, most * 1024 ** 2 || 0)
  }
  const timer = setInterval(() => void look(), 50)
  const ended = (once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>).then(
    ([code, signal]) => {
      clearInterval(timer)
      return { end: signal ?? code, ...text, peak }
    },
  )
  return { kill: (signal) => void child.kill(signal), stderr: () => text.stderr, ended }
}

/** The file of the command `holdfast` in its package. */
export const packagedProgram = join(repository, 'packages/holdfast/bin/holdfast.js')

/**
 * The file that tests start as `holdfast`: the bundle of `scripts/test`, which starts in two thirds of the processor time, or otherwise
 * the file of the package.
 */
export const holdfastProgram = process.env['HOLDFAST_TEST_PROGRAM'] ?? packagedProgram

/** The admin port of a server, as a balancer sees it. */
export interface AdminPort {
  readonly url: string
  /** What `/ready` says now. */
  ready(): Promise<ReadinessReport>
  /** Waits until `/ready` is green. */
  turnsGreen(): Promise<void>
  /** Waits until `/ready` is red, and resolves with what is wrong, by the names of checks. */
  turnsRed(): Promise<Readonly<Record<string, string | undefined>>>
}

/** What `/ready` says: `why` of each check that is not ok. */
export interface ReadinessReport {
  readonly ready: boolean
  readonly checks: readonly {
    readonly name: string
    readonly ok: boolean
    readonly why?: string
    readonly [detail: string]: unknown
  }[]
}

/** Of a server that was started with `--admin-port 0`. */
export async function adminPortOf(server: HoldfastServer): Promise<AdminPort> {
  const url = await adminUrl(server)
  let last: ReadinessReport | undefined
  const ready = async () => {
    const response = await fetch(`${url}/ready`)
    last = (await response.json()) as ReadinessReport
    equal(response.status, last.ready ? 200 : 503)
    return last
  }
  const turns = (colour: string, isReady: boolean) =>
    until(
      () => `/ready turns ${colour}; it said ${JSON.stringify(last)}`,
      async () => (await ready()).ready === isReady,
      30_000,
    )
  return {
    url,
    ready,
    turnsGreen: () => turns('green', true),
    async turnsRed() {
      await turns('red', false)
      const failed = last?.checks.filter(({ ok }) => !ok) ?? []
      return Object.fromEntries(failed.map(({ name, why }) => [name, why]))
    },
  }
}

/** The metrics of a server, as Prometheus gets them. */
export interface Scrape {
  /** The type of each metric, by its name. */
  readonly types: ReadonlyMap<string, string>
  /** The samples of a metric; of a histogram those of its buckets, its sum and its count. */
  readonly samples: (metric: string) => readonly Sample[]
  /** The sum of the samples of this very name that have all these labels; `undefined` where there is none. */
  readonly value: (name: string, labels?: Readonly<Record<string, string>>) => number | undefined
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

interface NamedSample extends Sample {
  readonly name: string
}

/** The address of the admin port of a server. */
export async function adminUrl(server: HoldfastServer): Promise<string> {
  const { admin } = await server.logged('holdfast listens on ')
  return String(admin)
}

/** Asks a server with an admin port for its metrics. */
export async function scrape(server: HoldfastServer): Promise<Scrape> {
  const answer = await fetch(`${await adminUrl(server)}/metrics`)
  equal(answer.status, 200)
  const type = answer.headers.get('content-type') ?? ''
  match(type, /^text\/plain; version=0\.0\.4; charset=utf-8/)
  const lines = (await answer.text()).split('\n')
  const types = new Map(
    lines
      .filter((line) => line.startsWith('# TYPE '))
      .map((line) => line.split(' ').slice(2))
      .map(([name = '', type = '']) => [name, type]),
  )
  const all = lines.filter((line) => line !== '' && !line.startsWith('#')).map(sampleOf)
  return {
    types,
    samples(metric) {
      const suffixes = types.get(metric) === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
      const names = suffixes.map((suffix) => metric + suffix)
      return all.filter(({ name }) => names.includes(name))
    },
    value(name, labels = {}) {
      const found = all.filter(
        (sample) =>
          sample.name === name &&
          Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
      )
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
    },
  }
}

function sampleOf(line: string): NamedSample {
  const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
  const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)]
  notEqual(name, '', line)
  return {
    name,
    labels: Object.fromEntries(pairs.map(([, label = '', text = '']) => [label, text])),
    value: Number(value),
  }
}
