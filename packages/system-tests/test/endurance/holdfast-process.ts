import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { holdfastProgram } from '@holdfast/testing'

/** Headers of the one customer of every server here. */
export const credentials = { 'x-auth-name': 'demo', 'x-auth-password': 'endure' }

/** A new directory with a customers file, and room for data beside it. */
export async function createSite(): Promise<{ directory: string; remove(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-endurance-'))
  await writeFile(
    join(directory, 'customers.yaml'),
    'customers:\n  - name: demo\n    password: endure\n',
    { mode: 0o600 },
  )
  return { directory, remove: () => rm(directory, { recursive: true, force: true }) }
}

export interface HoldfastProcess {
  readonly url: string
  readonly pid: number
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>
}

/**
 * A real `holdfast serve` for the customers in `directory`, ready to answer. Keeps files in `data` beside them, unless
 * `environment` says otherwise.
 */
export async function startHoldfast(
  directory: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<HoldfastProcess> {
  const child = spawn(process.execPath, [holdfastProgram, 'serve'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      HOLDFAST_PORT: '0',
      HOLDFAST_DATA: join(directory, 'data'),
      HOLDFAST_CUSTOMERS: join(directory, 'customers.yaml'),
      ...environment,
    },
  })
  const exited = once(child, 'exit') as Promise<[number | null]>
  const url = await announcedUrl(child, exited)
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    const [code] = await exited
    return code
  }
  return {
    url,
    pid: child.pid ?? 0,
    kill: async () => {
      await end('SIGKILL')
    },
    stop: () => end('SIGTERM'),
  }
}

async function announcedUrl(child: ChildProcess, exited: Promise<unknown>): Promise<string> {
  let output = ''
  const announced = new Promise<string>((resolve) => {
    const look = (chunk: Buffer) => {
      output += chunk.toString()
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0]
      if (url !== undefined) resolve(url)
    }
    child.stdout?.on('data', look)
    child.stderr?.on('data', look)
  })
  const failed = exited.then(() => {
    throw new Error(`holdfast did not start: ${output}`)
  })
  return Promise.race([announced, failed])
}

/** Resident memory of a process in bytes: now, or the most since it was last reset. */
export async function memoryOf(pid: number, kind: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${kind}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024
}

/** Makes the process' peak begin anew from what it holds now. */
export async function resetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5')
}
