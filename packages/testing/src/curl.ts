import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { buffer, text } from 'node:stream/consumers'

export interface CurlResult {
  readonly exitCode: number
  readonly stdout: Buffer
  readonly stderr: string
}

export interface CurlOptions {
  /** What it reads from standard input. */
  readonly input?: string | Uint8Array
  /** The directory it runs in. */
  readonly cwd?: string
}

/** Runs the machine's curl. A missing curl fails the test. */
export async function curl(
  args: readonly string[],
  { input = '', cwd }: CurlOptions = {},
): Promise<CurlResult> {
  const child = spawn('curl', ['--silent', '--show-error', '--noproxy', '*', ...args], { cwd })
  const exited = once(child, 'exit') as Promise<[number]>
  // A refused upload closes curl's input before it is read.
  child.stdin.on('error', () => {}).end(input)
  const [[exitCode], stdout, stderr] = await Promise.all([
    exited,
    buffer(child.stdout),
    text(child.stderr),
  ])
  return { exitCode, stdout, stderr }
}
