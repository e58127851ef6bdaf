import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { ClientCommand } from '../clients/client.ts'
import { spawnOwned } from '../subjects/spawn-owned.ts'
import { cpuSecondsOfEnded, memoryOf } from './process-figures.ts'

/** What a command used, and the processes that it started, from its start to its end. */
export interface CommandUsage {
  readonly seconds: number
  readonly cpuSeconds: number
  /** The most memory that was resident at a time, in MiB. */
  readonly peakMiB: number
}

export interface CommandPlace {
  readonly directory: string
  /** The file that takes what it says on standard error; what it prints is dropped. */
  readonly log: string
  /** Kills it. */
  readonly signal?: AbortSignal
}

/**
 * Runs a command and watches it; rejects when it fails. No other child of this process may end meanwhile: its processor time would
 * count.
 */
export async function observeCommand(
  { command, args, environment }: ClientCommand,
  { directory, log, signal }: CommandPlace,
): Promise<CommandUsage> {
  const cpu = await cpuSecondsOfEnded()
  const output = openSync(log, 'w')
  const begin = performance.now()
  const child = spawnOwned(command, args, {
    cwd: directory,
    stdio: ['ignore', 'ignore', output],
    env: { ...process.env, ...environment },
    signal,
  })
  closeSync(output)
  const ended = once(child, 'exit').then(([code]: unknown[]) => ({
    code,
    seconds: (performance.now() - begin) / 1000,
  }))
  const [{ code, seconds }, peakMiB] = await Promise.all([ended, peakUntil(ended, child.pid ?? 0)])
  if (code !== 0) {
    const said = readFileSync(log, 'utf8').slice(-2000)
    throw new Error(
      `${command} ${args.slice(0, 3).join(' ')} … ended with ${String(code)}: ${said}`,
    )
  }
  return { seconds, cpuSeconds: (await cpuSecondsOfEnded()) - cpu, peakMiB }
}

/** The system keeps the peak of each process while it runs, so looking now and then misses only what the last moments add. */
async function peakUntil(end: Promise<unknown>, pid: number): Promise<number> {
  const ended = end.then(
    () => true,
    () => true,
  )
  let peak = 0
  do {
    // There is none of a process that has just ended, and it is no number.
    const bytes = await memoryOf(pid, 'VmHWM').catch(() => 0)
    if (bytes > peak) peak = bytes
  } while (!(await Promise.race([ended, delay(10, false)])))
  return peak / 1024 ** 2
}
