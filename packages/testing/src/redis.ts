import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A running `redis-server` of this test. */
export interface RunningRedis {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** Ends it at once, and removes its data. */
  stop(): Promise<void>
}

/** Starts `redis-server`, or the program that `HOLDFAST_REDIS` names, on a free port of the loopback, without persistence. */
export async function startRedis(args: readonly string[] = []): Promise<RunningRedis> {
  const dir = await mkdtemp(join(tmpdir(), 'holdfast-redis-'))
  const port = await freePort()
  const program = process.env['HOLDFAST_REDIS'] ?? 'redis-server'
  const own = [
    '--port',
    `${port}`,
    '--bind',
    '127.0.0.1',
    '--dir',
    dir,
    '--save',
    '',
    '--loglevel',
    'notice',
  ]
  const child = spawn(program, [...own, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  let log = ''
  const ready = Promise.withResolvers<undefined>()
  child.once('error', ready.reject)
  child.stdout.on('data', (chunk: Buffer) => {
    log += String(chunk)
    if (log.includes('Ready to accept connections')) ready.resolve(undefined)
  })
  void exited.then(() => ready.reject(new Error(`${program} ended: ${log}`)))
  await ready.promise
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGKILL')
      await exited
      await rm(dir, { recursive: true, force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
