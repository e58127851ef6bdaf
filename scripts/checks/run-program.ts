import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile, rm, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { processorTimeOfEnded } from './processor-time.ts'

// Nothing takes longer unless it was asked to, as an endurance test; what does is stuck, and CI should say so instead of waiting for its own end.
const limitMinutes = Number(process.env['HOLDFAST_TEST_JOB_MINUTES'] ?? 20)

export interface Ended {
  /** `undefined` where the program ended well, else how it ended, such as `with code 1`. */
  readonly problem: string | undefined
  /** What it said, on stdout and stderr. */
  readonly output: string
  /** Of it and of what it waited for; `undefined` where that is not known. */
  readonly processorSeconds: number | undefined
}

/**
 * Runs one of the programs of `root`'s node_modules/.bin in `root`, with `variables` in its environment, and without those that
 * are undefined; resolves when it has ended.
 * A program that cannot start, is killed or takes over twenty minutes (`HOLDFAST_TEST_JOB_MINUTES`) has not ended well.
 * When `stop` is aborted, it gets the signal that is the reason.
 */
export async function runProgram(
  root: string,
  [program = '', ...args]: readonly string[],
  stop: AbortSignal,
  variables: Readonly<Record<string, string | undefined>> = {},
): Promise<Ended> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-output-'))
  const path = join(folder, 'output')
  // Not a pipe: it would stay open as long as anything that the program has started and left.
  const file = await open(path, 'a')
  try {
    const bin = join(root, 'node_modules/.bin')
    const child = spawn(join(bin, program), args, {
      cwd: root,
      stdio: ['ignore', file.fd, file.fd],
      timeout: limitMinutes * 60_000,
      // What a test starts as plain `node` is the Node that the project pins.
      env: { ...process.env, ...variables, PATH: bin + delimiter + (process.env['PATH'] ?? '') },
    })
    const end = () => child.kill(stop.reason as NodeJS.Signals)
    stop.addEventListener('abort', end)
    const problem = await untilEnd(child).finally(() => stop.removeEventListener('abort', end))
    const processorSeconds = processorTimeOfEnded()
    return { problem, output: await readFile(path, 'utf8'), processorSeconds }
  } finally {
    await file.close()
    await rm(folder, { recursive: true })
  }
}

async function untilEnd(child: ReturnType<typeof spawn>): Promise<string | undefined> {
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
    if (signal !== null) return `by ${signal}`
    return code === 0 ? undefined : `with code ${code}`
  } catch (error) {
    return `before it began: ${String(error)}`
  }
}
