import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until, deployedFile } from '@holdfast/testing'
import { makeCertificate } from '@holdfast/testing'

/** By the file of docs/deploy; `compose-haproxy` is that of the containers. */
export type ProxyKind = 'nginx' | 'haproxy' | 'compose-haproxy'

/** Ports of 127.0.0.1. */
export interface ProxyRoutes {
  /** Where clients come in. */
  readonly clients: number
  /** Where holdfast finds MinIO; the proxy of the containers is not between them. */
  readonly store?: number
  /** Three servers, and four nodes; in containers two servers. */
  readonly holdfast: readonly number[]
  readonly minio?: readonly number[]
  /** The admin ports of the servers, for HAProxy to ask whether they are ready. Default: it asks whether they answer. */
  readonly admin?: readonly number[]
}

export interface RunningProxy {
  /** `https://…`, for clients. */
  readonly url: string
  /** The authority of its certificate. */
  readonly certificate: string
  /** What it has logged, of requests and of errors. */
  log(): Promise<string>
  stop(): Promise<void>
}

/** Starts the real nginx or HAProxy with the very file of docs/deploy, but for addresses, ports, paths and user. */
export async function startProxy(kind: ProxyKind, routes: ProxyRoutes): Promise<RunningProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-proxy-'))
  const { certificate, privateKey } = await makeCertificate()
  await writeFile(join(folder, 'certificate.pem'), certificate)
  await writeFile(join(folder, 'key.pem'), privateKey, { mode: 0o600 })
  await writeFile(join(folder, 'both.pem'), certificate + privateKey, { mode: 0o600 })
  await writeFile(join(folder, 'certificate.pem.key'), privateKey, { mode: 0o600 })
  const config = join(folder, 'config')
  await writeFile(config, configs[kind](routes, folder))
  if (kind !== 'nginx') await promisify(execFile)('haproxy', ['-c', '-f', config])
  const [program, ...args] = commands[kind](config)
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const ended = once(child, 'close')
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true })
  }
  try {
    for (const port of [routes.clients, routes.store].filter((each) => each !== undefined)) {
      await until(
        () => `${kind} listens; it said: ${said}`,
        () => answers(port),
      )
    }
  } catch (error) {
    await stop()
    throw error
  }
  // HAProxy logs to its output.
  const log = async () =>
    said + (await readFile(join(folder, 'access.log'), 'utf8').catch(() => ''))
  return { url: `https://127.0.0.1:${routes.clients}`, certificate, log, stop }
}

const commands = {
  nginx: (config: string) => ['nginx', '-c', config, '-g', 'daemon off;'],
  // In the foreground, in one process.
  haproxy: (config: string) => ['haproxy', '-db', '-f', config],
  'compose-haproxy': (config: string) => ['haproxy', '-db', '-f', config],
} satisfies Record<ProxyKind, (config: string) => [string, ...string[]]>

const configs: Record<ProxyKind, (routes: ProxyRoutes, folder: string) => string> = {
  nginx: (routes, folder) =>
    deployedFile('nginx.conf', {
      ...addresses(routes),
      'user www-data;': `user ${userInfo().username};`,
      '/run/nginx.pid': join(folder, 'pid'),
      '/var/log/nginx/error.log': 'stderr',
      '/var/log/nginx/access.log': join(folder, 'access.log'),
      'listen 443 ssl': `listen 127.0.0.1:${routes.clients} ssl`,
      '/etc/ssl/files.example.com/fullchain.pem': join(folder, 'certificate.pem'),
      '/etc/ssl/files.example.com/privkey.pem': join(folder, 'key.pem'),
      // Made at the start, although nothing is ever written there, and only root may make them in the usual place.
      'http {': ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((name) => `${name}_temp_path ${join(folder, name)};`)
        .reduce((text, line) => `${text}\n    ${line}`, 'http {'),
    }),
  haproxy: (routes, folder) =>
    deployedFile('haproxy.cfg', {
      ...readiness(routes),
      ...addresses(routes),
      'user haproxy': `user ${userInfo().username}`,
      'group haproxy': `group ${execFileSync('id', ['-gn'], { encoding: 'utf8' }).trim()}`,
      'log /dev/log': 'log stdout format raw',
      'bind :443': `bind 127.0.0.1:${routes.clients}`,
      '/etc/ssl/files.example.com/haproxy.pem': join(folder, 'both.pem'),
    }),
  'compose-haproxy': ({ clients, holdfast, admin = [] }, folder) =>
    deployedFile('compose-haproxy.cfg', {
      'bind :8443': `bind 127.0.0.1:${clients}`,
      '/run/secrets/tls.crt': join(folder, 'certificate.pem'),
      ...Object.fromEntries(
        holdfast.map((port, index) => [
          `holdfast-${index + 1}:3000 check port 3001`,
          `127.0.0.1:${port} check port ${admin[index] ?? 0}`,
        ]),
      ),
    }),
}

function addresses({ store = 0, holdfast, minio = [] }: ProxyRoutes): Record<string, string> {
  const pairs: (readonly [string, number])[] = [
    ['10.0.0.10:9000', store],
    ...holdfast.map((port, index) => [`10.0.0.1${index + 1}:3000`, port] as const),
    ...minio.map((port, index) => [`10.0.0.2${index + 1}:9000`, port] as const),
  ]
  return Object.fromEntries(pairs.map(([address, port]) => [address, `127.0.0.1:${port}`]))
}

/** What the file says to change for `/ready`. */
function readiness({ admin }: ProxyRoutes): Record<string, string> {
  if (admin === undefined) return {}
  const ports = admin.map((port, index) => {
    const server = `10.0.0.1${index + 1}:3000 check`
    return [server, `${server} port ${port}`] as const
  })
  return { 'uri /ping': 'uri /ready', ...Object.fromEntries(ports) }
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
