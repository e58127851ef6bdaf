import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, readlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'

/** The resident memory of a process, in MiB: now, and its maximum so far. */
export async function residentMiB(pid: number): Promise<{ now: number; most: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const figure = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024
  return { now: figure('VmRSS'), most: figure('VmHWM') }
}

/** Resets the maximum of a process's memory to the current value. */
export async function resetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5')
}

/** The number of open descriptors of a process. */
export async function openDescriptors(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length
}

/** The files and directories inside `directory` that this process has open. */
export async function openFilesIn(directory: string): Promise<string[]> {
  const descriptors = await readdir('/proc/self/fd')
  // The descriptor of this very listing is closed by now.
  const links = descriptors.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''))
  return (await Promise.all(links)).filter((path) => path.startsWith(directory))
}

/** The running child processes of a process, such as the workers of a server. */
export async function childrenOf(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.trim().split(' ').filter(Boolean).map(Number)
}

/** The command by which this user runs `command` as root. */
export function rootCommand(
  command: readonly string[],
): readonly [program: string, args: readonly string[]] {
  const [program = '', ...args] = process.getuid?.() === 0 ? command : ['sudo', '-n', ...command]
  return [program, args]
}

/** Runs `command` as root; needs root, or sudo without a password. */
export function asRoot(...command: readonly string[]): void {
  const [program, args] = rootCommand(command)
  try {
    execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  } catch (cause) {
    const remedy =
      'Mounting needs root, or sudo without a password, and a container that allows it; scripts/test --without-containers ' +
      'leaves out what it is needed for'
    throw new Error(`${command.join(' ')} failed: ${String(cause)}. ${remedy}`, { cause })
  }
}

// Below the ports that systems use for outgoing connections: such a connection could take the port of a server while it restarts.
const lowest = 20_000
const highest = 32_000

/** Finds a free port of 127.0.0.1 that suits a server that will be restarted. */
export async function findFreePort(): Promise<number> {
  while (true) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest))
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}

export interface CurlResult {
  readonly exitCode: number
  readonly stdout: Buffer
  readonly stderr: string
}

export interface CurlOptions {
  /** The standard input. */
  readonly input?: string | Uint8Array
  /** The working directory. */
  readonly cwd?: string
}

/** Runs the machine's curl. A missing curl fails the test. */
export async function curl(
  args: readonly string[],
  { input = '', cwd }: CurlOptions = {},
): Promise<CurlResult> {
  const child = spawn('curl', ['--silent', '--show-error', '--noproxy', '*', ...args], { cwd })
  const exited = once(child, 'exit') as Promise<[number]>
  // If the upload is refused, curl closes its input early.
  child.stdin.on('error', () => {}).end(input)
  const [[exitCode], stdout, stderr] = await Promise.all([
    exited,
    buffer(child.stdout),
    text(child.stderr),
  ])
  return { exitCode, stdout, stderr }
}

/** The folder of this package, for its sources and for their build: this file is in `src`, and all of the build lies in `dist` itself. */
export const packageFolder = join(import.meta.dirname, '..')

/** The root of the repository. */
export const repository = join(packageFolder, '../..')
