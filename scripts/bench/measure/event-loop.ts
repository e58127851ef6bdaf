import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { StartOptions } from '../subjects/subject.ts'

export interface EventLoopProbe {
  /** What a Node.js server has to be started with. */
  readonly options: StartOptions
  /** How long the event loop of `pid` was blocked at most since the last call, in milliseconds. */
  blockedMs(pid: number): Promise<number>
}

/** Looks into a server's event loop from outside; `directory` is for its messages. */
export function createEventLoopProbe(directory: string): EventLoopProbe {
  const file = join(directory, 'probe')
  return {
    options: {
      environment: { PROBE: file },
      preloaded: [join(import.meta.dirname, '../servers/event-loop-probe.ts')],
    },
    blockedMs: async (pid) => {
      await rm(file, { force: true })
      process.kill(pid, 'SIGUSR2')
      const limit = performance.now() + 60_000
      while (performance.now() < limit) {
        const text = await readFile(file, 'utf8').catch(() => undefined)
        if (text !== undefined) return Number(text)
        await delay(5)
      }
      throw new Error(`Process ${pid} does not say how its event loop was blocked`)
    },
  }
}
