import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { holdfastProgram } from './holdfast-program.ts'
import { residentMiB } from './process-figures.ts'

/** A running `holdfast copy`. */
export interface CopyProcess {
  readonly kill: (signal: NodeJS.Signals) => void
  /** What it has said on standard error so far. */
  readonly stderr: () => string
  readonly ended: Promise<CopyOutcome>
}

export interface CopyOutcome {
  /** The exit code, or the signal that killed it. */
  readonly end: number | NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  /** The most memory it had resident, in bytes, as far as it was looked at: every 50 ms. */
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
    // Between its end and the news of it there is nothing to look at.
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
