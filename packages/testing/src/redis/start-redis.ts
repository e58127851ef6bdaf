import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findFreePort } from '../machine.ts'
import { makeCertificate } from '../tls-site.ts'

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
