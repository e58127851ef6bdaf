import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** The command under test. */
export const start = join(import.meta.dirname, '../../start')

/** A `scripts/start` under way. */
export interface RunningStart {
  /** Its standard output from the beginning until it contains `text`; rejects, with all output, if it ends before. */
  outputUntil: (text: string) => Promise<string>
  /** Sends `signal` to the process that was started, waits for its end and resolves to its exit code. */
  stop: (signal: NodeJS.Signals) => Promise<number | null>
}

/** Runs scripts/start with options of `serve` in `folder`, on any free port, with a registry that does not answer. */
export function runStart(folder: string, ...args: readonly string[]): RunningStart {
  const child = spawn(start, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOLDFAST_PORT: '0', npm_config_registry: 'http://127.0.0.1:9' },
  })
  const ended = once(child, 'close')
  let output = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  return {
    outputUntil: async (text) => {
      while (!output.includes(text)) {
        if (child.exitCode !== null) throw new Error(`scripts/start ended:\n${output}${errors}`)
        await Promise.race([once(child.stdout, 'data'), ended])
      }
      return output
    },
    stop: async (signal) => {
      child.kill(signal)
      await ended
      return child.exitCode
    },
  }
}
