import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { fencedBlocks } from '../../../packages/system-tests/test/docs/documented-steps.ts'
import { installedExamples } from './installed-examples.ts'

type Environment = Readonly<Record<string, string>>

/** An example that serves, with data of its own. */
export interface RunningExample {
  readonly url: string
  /** Its data directory. */
  readonly data: string
  /** What it has said so far. */
  said(): string
  /** Asks it to end, and resolves with its exit code; its data go. */
  stop(): Promise<number | null>
}

/** Starts the example of this name on a free port, as its README says. */
export async function startExample(name: string, env: Environment = {}): Promise<RunningExample> {
  const cwd = join(await installedExamples(), name)
  const data = await mkdtemp(join(tmpdir(), `holdfast-example-`))
  const child = spawn(process.execPath, ['src/main.ts'], {
    cwd,
    env: { ...process.env, PORT: '0', DATA: data, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const closed = once(child, 'close') as Promise<[number | null]>
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const stop = async () => {
    child.kill('SIGTERM')
    const [code] = await closed
    await rm(data, { recursive: true, force: true })
    return code
  }
  const url = await new Promise<string | undefined>((resolve) => {
    child.stdout.on('data', () => {
      const [, found] = /^Listening on (\S+)$/m.exec(said) ?? []
      if (found !== undefined) resolve(found)
    })
    void closed.then(() => resolve(undefined))
  })
  if (url !== undefined) return { url, data, said: () => said, stop }
  await stop()
  throw new Error(`${name} did not start: ${said}`)
}

/** The lines of shell in the README of the example that `pattern` finds. */
export async function readmeLines(name: string, pattern: RegExp): Promise<readonly string[]> {
  const readme = await readFile(join(await installedExamples(), name, 'README.md'), 'utf8')
  const lines = fencedBlocks(readme, 'sh').flatMap((block) => block.split('\n'))
  const found = lines.filter((line) => pattern.test(line))
  if (found.length === 0) throw new Error(`The README of ${name} has no ${String(pattern)}`)
  return found
}

export interface Ending {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs `command` of a shell in the folder of the example to its end. */
export async function runInExample(
  name: string,
  command: string,
  env: Environment = {},
): Promise<Ending> {
  const cwd = join(await installedExamples(), name)
  const path = [dirname(process.execPath), process.env['PATH']].join(delimiter)
  const options = { cwd, env: { ...process.env, PATH: path, ...env }, maxBuffer: 2 ** 26 }
  return promisify(execFile)('sh', ['-euc', command], options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: unknown) => error as Ending,
  )
}
