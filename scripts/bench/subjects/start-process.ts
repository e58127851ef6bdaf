import { once } from 'node:events'
import { openSync, closeSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { spawnOwned } from './spawn-owned.ts'

export interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** The file that takes what the program prints. */
  readonly log: string
  /** The port of 127.0.0.1 that it will listen on. */
  readonly port: number
}

export interface ServerProcess {
  readonly pid: number
  /** From the start of the process until it took connections, in milliseconds. */
  readonly startMs: number
  /** SIGTERM; resolves when the process is gone. */
  stop(): Promise<void>
}

const startLimitMs = 20_000

/** Starts a server and resolves when it takes connections. Rejects with what it has printed when it ends before. */
export async function startProcess(program: Program): Promise<ServerProcess> {
  const { command, args, environment, log, port } = program
  const begin = performance.now()
  const output = openSync(log, 'a')
  const child = spawnOwned(command, args, {
    stdio: ['ignore', output, output],
    env: { ...process.env, ...environment },
  })
  closeSync(output)
  const exited = once(child, 'exit')
  const ended = exited.then(
    () => true,
    (error: unknown) => Promise.reject(new Error(`${command} does not start`, { cause: error })),
  )
  const stop = async () => {
    child.kill()
    await exited
  }
  while (!(await takesConnections(port))) {
    const hasEnded = await Promise.race([ended, delay(2, false)])
    if (hasEnded || performance.now() > begin + startLimitMs) {
      if (!hasEnded) await stop()
      throw new Error(`${command} does not come up: ${readFileSync(log, 'utf8').slice(-2000)}`)
    }
  }
  return { pid: child.pid ?? 0, startMs: performance.now() - begin, stop }
}

function takesConnections(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return new Promise((resolve) => {
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
  }).then((isOpen) => {
    socket.destroy()
    return isOpen === true
  })
}
