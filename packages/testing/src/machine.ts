import { readdir, readFile, writeFile, mkdtemp, rm } from 'node:fs/promises'
import { execFileSync, spawn, execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { findPackageJSON } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { createHash } from 'node:crypto'
import { createReadStream, type Dirent } from 'node:fs'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'

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

/** The folder of this package, for its sources and for their build. */
export const packageFolder = dirname(findPackageJSON(import.meta.url) ?? '')

/** The root of the repository. */
export const repository = join(packageFolder, '../..')

/** The regular files below a directory, each with the SHA-256 of its content. */
export async function treeOf(directory: string): Promise<ReadonlyMap<string, string>> {
  const entries = await entriesBelow(directory)
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  const tree = new Map<string, string>()
  for (const path of paths) {
    const hash = createHash('sha256')
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
    tree.set(relative(directory, path), hash.digest('hex'))
  }
  return tree
}

/** All entries below a directory; a server may remove some meanwhile. */
export async function entriesBelow(directory: string): Promise<Dirent[]> {
  for (;;) {
    try {
      return await readdir(directory, { recursive: true, withFileTypes: true })
    } catch (error) {
      const isGone = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (!isGone || !('path' in error) || error.path === directory) throw error
    }
  }
}

/** A certificate that is its own authority, and its key, both as PEM. */
export interface Certificate {
  readonly certificate: string
  readonly privateKey: string
}

/** Makes a certificate for 127.0.0.1 and localhost that is valid for some days. Needs the program `openssl`. */
export async function makeCertificate({ days = 1 } = {}): Promise<Certificate> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-certificate-'))
  const [certificate, privateKey] = [join(folder, 'public.crt'), join(folder, 'private.key')]
  try {
    const command = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days ${days} -subj /CN=localhost
      -addext subjectAltName=IP:127.0.0.1,DNS:localhost`
    const files = ['-keyout', privateKey, '-out', certificate]
    await promisify(execFile)('openssl', [...command.split(/\s+/), ...files])
    return {
      certificate: await readFile(certificate, 'utf8'),
      privateKey: await readFile(privateKey, 'utf8'),
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}
