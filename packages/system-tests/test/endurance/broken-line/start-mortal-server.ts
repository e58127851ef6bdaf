import { readFileSync } from 'node:fs'
import type { HoldfastServer, LogLine } from '@holdfast/testing'
import type { Choices } from '../soak/choices.ts'

/** A server that is killed, and starts again. */
export interface MortalServer {
  /** Resolves when it answers. */
  ready(): Promise<void>
  readonly url: () => string
  /** Kills it, or one of its workers. It is dead, or starts again, when this returns. */
  kill(): void
  /** Whether it serves: a server that starts cannot be killed. */
  readonly isUp: () => boolean
  /** MiB that one of its processes grew by since it was ready, at the most. */
  readonly growthMiB: () => number
  /** What the server that runs has logged as errors, but for workers that have died. */
  readonly errors: () => readonly LogLine[]
  readonly kills: () => { readonly servers: number; readonly workers: number }
  /** Ends it as SIGTERM does, and resolves with the exit code. */
  stop(): Promise<number | NodeJS.Signals | null>
  [Symbol.asyncDispose](): Promise<void>
}

/** Starts one; calls `onStart` with each new server. */
export async function startMortalServer(
  start: () => Promise<HoldfastServer>,
  choices: Choices,
  onStart: (server: HoldfastServer) => void,
): Promise<MortalServer> {
  let server: HoldfastServer
  let isUp = false
  let growth = 0
  const kills = { servers: 0, workers: 0 }
  const idle = new Map<number, number>()

  const begin = async () => {
    server = await start()
    idle.clear()
    for (const pid of processesOf(server.pid)) idle.set(pid, memoryOf(pid, 'VmRSS'))
    onStart(server)
    isUp = true
  }
  const restart = async () => {
    await server.kill()
    await begin()
  }
  let starting = begin()
  await starting

  const measure = () => {
    // A worker that came later began as the smallest did.
    const least = Math.min(...idle.values())
    for (const pid of processesOf(server.pid)) {
      const most = memoryOf(pid, 'VmHWM')
      if (most > 0) growth = Math.max(growth, most - (idle.get(pid) ?? least))
    }
  }
  return {
    ready: () => starting,
    url: () => server.url,
    isUp: () => isUp,
    growthMiB: () => growth,
    kills: () => ({ ...kills }),
    errors: () =>
      server.lines().filter(({ level, worker, err }) => {
        return Number(level) >= 50 && worker === undefined && !/while it started/.test(String(err))
      }),
    kill() {
      measure()
      const [, ...workers] = processesOf(server.pid)
      const [first, ...rest] = workers
      if (first !== undefined && choices.chance(40)) {
        kills.workers++
        process.kill(choices.pick([first, ...rest]), 'SIGKILL')
        return
      }
      kills.servers++
      server.signal('SIGKILL')
      isUp = false
      starting = restart()
      // Who waits for it learns of a failure.
      starting.catch(() => {})
    },
    async stop() {
      await starting
      measure()
      server.signal('SIGTERM')
      return server.ended
    },
    async [Symbol.asyncDispose]() {
      await starting.catch(() => {})
      await server.kill()
    },
  }
}

/** The server's process, and its workers. Read at once: nothing may happen between the look and the kill. */
function processesOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return [pid, ...children.trim().split(' ').filter(Boolean).map(Number)]
}

/** In MiB; 0 for a process that has ended. */
function memoryOf(pid: number, figure: 'VmRSS' | 'VmHWM'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(new RegExp(`^${figure}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}
