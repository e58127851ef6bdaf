import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findFreePort } from '../machine.ts'
import { makeCertificate } from '../tls-site.ts'
import { until } from '../until.ts'

export interface RedisOptions {
  /** More arguments of the program, such as `--maxmemory 10mb`, one word each. */
  readonly args?: readonly string[]
  /** The password of the default user. Default: none is needed. */
  readonly password?: string
  /** Lines of an ACL file, such as `user bob on >secret ~* &* +@all`. */
  readonly acl?: readonly string[]
  /** Speaks TLS, and nothing else, with a new certificate that is its own authority. */
  readonly tls?: boolean
}

/** A running `redis-server` of this test. */
export interface RunningRedis {
  /** Without user and password. */
  readonly url: string
  readonly port: number
  readonly pid: number
  /** Its certificate as PEM; empty without TLS. */
  readonly ca: string
  /** The key of that certificate as PEM; empty without TLS. */
  readonly privateKey: string
  /** Runs a command by `redis-cli`, as the default user, and returns its output. Rejects if that is an error. */
  run(...command: readonly string[]): Promise<string>
  /** Stops the process, so that connections stay but get no answers (SIGSTOP), until `resume`. */
  suspend(): void
  resume(): void
  /** Kills it, and starts it again on the same port. Without persistence it has lost its data. */
  restart(): Promise<void>
  /** Kills it, and keeps its port and folder for `restart`. */
  kill(): Promise<void>
  /** Ends it at once, and removes its data. */
  stop(): Promise<void>
}

/** Starts `redis-server`, or the program that `HOLDFAST_REDIS` names, on a free port of the loopback, without persistence. */
export async function startRedis(
  given: readonly string[] | RedisOptions = {},
): Promise<RunningRedis> {
  const options: RedisOptions = 'length' in given ? { args: given } : given
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-redis-'))
  const files = await writeFiles(dir, options)
  try {
    return await startOnFreePort(dir, files, options)
  } catch (error) {
    await rm(dir, { recursive: true, force: true })
    throw error
  }
}

interface RedisFiles {
  readonly ca: string
  readonly privateKey: string
  readonly args: readonly string[]
}

async function writeFiles(dir: string, { tls = false, acl }: RedisOptions): Promise<RedisFiles> {
  const args: string[] = []
  if (acl !== undefined) {
    const path = join(dir, 'users.acl')
    await writeFile(path, `${acl.join('\n')}\n`)
    args.push('--aclfile', path)
  }
  if (!tls) return { ca: '', privateKey: '', args }
  const { certificate, privateKey } = await makeCertificate()
  const [cert, key] = [join(dir, 'cert.pem'), join(dir, 'key.pem')]
  await writeFile(cert, certificate)
  await writeFile(key, privateKey)
  args.push('--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert)
  return { ca: certificate, privateKey, args: [...args, '--tls-auth-clients', 'no'] }
}

/** How often another port is tried if the first is taken meanwhile. */
const attempts = 5

async function startOnFreePort(
  dir: string,
  files: RedisFiles,
  options: RedisOptions,
): Promise<RunningRedis> {
  const { tls = false, password, args = [] } = options
  for (let left = attempts; ; left--) {
    const port = await findFreePort()
    const secret = password === undefined ? [] : ['--requirepass', password]
    const ports = tls ? ['--port', '0', '--tls-port', `${port}`] : ['--port', `${port}`]
    const command = [...serverArgs(dir), ...ports, ...secret, ...files.args, ...args]
    try {
      return running(await startServer(command), { port, dir, command, files, options })
    } catch (error) {
      if (left === 0 || !String(error).includes('Address already in use')) throw error
    }
  }
}

function serverArgs(dir: string): readonly string[] {
  return ['--bind', '127.0.0.1', '--dir', dir, '--save', '', '--loglevel', 'notice']
}

function running(
  first: ChildProcess,
  {
    port,
    dir,
    command,
    files: { ca, privateKey },
    options: { password, tls = false },
  }: {
    readonly port: number
    readonly dir: string
    readonly command: readonly string[]
    readonly files: RedisFiles
    readonly options: RedisOptions
  },
): RunningRedis {
  let child = first
  const kill = () => endServer(child)
  const secret = password === undefined ? [] : ['-a', password, '--no-auth-warning']
  const secure = tls ? ['--tls', '--cacert', join(dir, 'cert.pem')] : []
  return {
    url: `${tls ? 'rediss' : 'redis'}://127.0.0.1:${port}`,
    port,
    get pid() {
      return child.pid ?? 0
    },
    ca,
    privateKey,
    run: (...words) => runCli([...secret, ...secure, '-p', `${port}`, ...words]),
    suspend: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async restart() {
      await kill()
      child = await startServer(command)
    },
    kill,
    async stop() {
      await kill()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** Runs `redis-cli` with `args`; rejects with its output if that is an error. */
export async function runCli(args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('redis-cli', ['-e', ...args], { timeout: 30_000 })
  return stdout.trim()
}

const startMs = 30_000

/** Starts the program with `args`; resolves when it takes connections. */
export async function startServer(
  args: readonly string[],
  isReady = 'Ready to accept connections',
): Promise<ChildProcess> {
  const program = process.env['HOLDFAST_REDIS'] ?? 'redis-server'
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let log = ''
  const ready = Promise.withResolvers<undefined>()
  const fail = (what: string) => ready.reject(new Error(`${program} ${what}: ${log}`))
  const timer = setTimeout(() => fail('does not start'), startMs)
  child.once('error', ready.reject)
  child.once('close', () => fail('ended'))
  child.stdout.on('data', (chunk: Buffer) => {
    // Later lines are read, so that the pipe does not fill, and dropped.
    if (log.length < 100_000) log += String(chunk)
    if (log.includes(isReady)) ready.resolve(undefined)
  })
  try {
    await ready.promise
    return child
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Kills a server; resolves when it is gone. */
export async function endServer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** A Redis Cluster of masters without replicas. */
export interface RunningCluster {
  /** For holdfast: `redis+cluster://…`. */
  readonly url: string
  readonly servers: readonly RunningRedis[]
  /**
   * Gives a slot, with its keys, from the server that has it to another one. Calls `meanwhile` when the keys have moved, and the slot
   * has not: the old server then answers `ASK` for all keys that it does not have.
   */
  moveSlot(slot: number, to: RunningRedis, meanwhile?: () => Promise<void>): Promise<void>
  /** Ends all servers, and removes their data. */
  stop(): Promise<void>
}

/** Starts three masters on the loopback, which share the slots. */
export async function startRedisCluster(): Promise<RunningCluster> {
  const servers: RunningRedis[] = []
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()))
  }
  try {
    for (let nth = 0; nth < 3; nth++) servers.push(await startNode())
    const hosts = servers.map(({ port }) => `127.0.0.1:${port}`)
    await runCli(['--cluster', 'create', ...hosts, '--cluster-yes'])
    await until('each server of the cluster knows all slots', async () => {
      const states = await Promise.all(servers.map((server) => server.run('CLUSTER', 'INFO')))
      return states.every((state) => /cluster_state:ok/.test(state))
    })
    const url = `redis+cluster://${hosts.join(',')}`
    return { url, servers, moveSlot: (...given) => moveSlot(servers, ...given), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startNode(): Promise<RunningRedis> {
  // Otherwise the second port is the first plus 10,000, which may be taken.
  const bus = await findFreePort()
  return startRedis([
    '--cluster-enabled',
    'yes',
    '--cluster-port',
    `${bus}`,
    '--cluster-node-timeout',
    '5000',
  ])
}

async function moveSlot(
  servers: readonly RunningRedis[],
  slot: number,
  to: RunningRedis,
  meanwhile?: () => Promise<void>,
): Promise<void> {
  const ids = await Promise.all(servers.map((server) => server.run('CLUSTER', 'MYID')))
  const target = ids[servers.indexOf(to)] ?? ''
  const owner = await to.run('CLUSTER', 'NODES')
  const from = servers.find((_, nth) => owns(owner, ids[nth] ?? '', slot))
  if (from === undefined || from === to) return
  await to.run('CLUSTER', 'SETSLOT', `${slot}`, 'IMPORTING', ids[servers.indexOf(from)] ?? '')
  await from.run('CLUSTER', 'SETSLOT', `${slot}`, 'MIGRATING', target)
  const keys = (await from.run('CLUSTER', 'GETKEYSINSLOT', `${slot}`, '1000')).split('\n')
  for (const key of keys.filter(Boolean)) {
    await from.run('MIGRATE', '127.0.0.1', `${to.port}`, key, '0', '5000')
  }
  await meanwhile?.()
  for (const server of [to, from, ...servers]) {
    await server.run('CLUSTER', 'SETSLOT', `${slot}`, 'NODE', target)
  }
}

function owns(nodes: string, id: string, slot: number): boolean {
  const [, ranges = ''] = new RegExp(`^${id} .* connected ?(.*)$`, 'm').exec(nodes) ?? []
  return ranges.split(' ').some((range) => {
    const [first = NaN, last = first] = range.split('-').map(Number)
    return first <= slot && slot <= last
  })
}

/** A master with replicas, and Sentinels that watch them. */
export interface RunningSentinels {
  /** For holdfast: `redis+sentinel://…/main`. */
  readonly url: string
  readonly masterName: string
  readonly ports: readonly number[]
  /** The servers; the first was the master at the start. */
  readonly servers: readonly RunningRedis[]
  /** The server that the Sentinels call the master. */
  master(): Promise<RunningRedis>
  /** Has the Sentinels make another server the master; resolves when all of them say so. The old one becomes its replica. */
  failover(): Promise<void>
  /** Ends all of them, and removes their data. */
  stop(): Promise<void>
}

const masterName = 'main'

/** Starts one master, `replicas` replicas, and as many Sentinels as there are servers. All are on the loopback. */
export async function startSentinels({ replicas = 1 } = {}): Promise<RunningSentinels> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-sentinels-'))
  const servers: RunningRedis[] = []
  const sentinels: ChildProcess[] = []
  const stop = async () => {
    await Promise.all([...sentinels.map(endServer), ...servers.map((server) => server.stop())])
    await rm(dir, { recursive: true, force: true })
  }
  try {
    const master = await startRedis(['--repl-diskless-sync-delay', '0'])
    servers.push(master)
    for (let nth = 0; nth < replicas; nth++) {
      servers.push(await startRedis(['--replicaof', `127.0.0.1 ${master.port}`]))
    }
    const ports: number[] = []
    for (const _ of servers) {
      const port = await findFreePort()
      sentinels.push(await startSentinel(dir, port, master.port, servers.length))
      ports.push(port)
    }
    await until('the Sentinels know each other and the replicas', async () => {
      const known = await Promise.all(ports.map(knownTo))
      const others = servers.length - 1
      return known.every((counts) => counts.sentinels === others && counts.replicas === replicas)
    })
    return sentinelsOf(ports, servers, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

async function startSentinel(
  dir: string,
  port: number,
  masterPort: number,
  count: number,
): Promise<ChildProcess> {
  const file = join(dir, `${port}.conf`)
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${dir}`,
    `sentinel monitor ${masterName} 127.0.0.1 ${masterPort} ${Math.floor(count / 2) + 1}`,
    `sentinel down-after-milliseconds ${masterName} 1000`,
    `sentinel failover-timeout ${masterName} 5000`,
  ]
  await writeFile(file, `${lines.join('\n')}\n`)
  return startServer([file, '--sentinel'], '+monitor master')
}

async function knownTo(port: number): Promise<{ sentinels: number; replicas: number }> {
  const text = await runCli(['-p', `${port}`, 'SENTINEL', 'MASTER', masterName])
  const lines = text.split('\n')
  const field = (name: string) => Number(lines[lines.indexOf(name) + 1])
  return { sentinels: field('num-other-sentinels'), replicas: field('num-slaves') }
}

function sentinelsOf(
  ports: readonly number[],
  servers: readonly RunningRedis[],
  stop: () => Promise<void>,
): RunningSentinels {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',')
  const masterPort = async (sentinel: number) => {
    const command = ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', masterName]
    return Number((await runCli(['-p', `${sentinel}`, ...command])).split('\n')[1])
  }
  const master = async () => {
    const port = await masterPort(ports[0] ?? 0)
    const found = servers.find((server) => server.port === port)
    if (found === undefined) throw new Error(`No server of this test has the port ${port}`)
    return found
  }
  return {
    url: `redis+sentinel://${hosts}/${masterName}`,
    masterName,
    ports,
    servers,
    master,
    async failover() {
      const before = await master()
      // Until the replica has reported to a Sentinel that it is in sync, the answer is NOGOODSLAVE.
      await until('the Sentinels begin a failover', async () => {
        const begun = runCli(['-p', `${ports[0]}`, 'SENTINEL', 'FAILOVER', masterName])
        return begun.then(
          () => true,
          () => false,
        )
      })
      await until('all Sentinels name another master', async () => {
        const named = await Promise.all(ports.map(masterPort))
        return named.every((port) => port !== before.port && port === named[0])
      })
    },
    stop,
  }
}
