import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, readlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'

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

/** A small file system of this user. */
export interface SmallDisk {
  mount(): void
  /** With `isLazy`, also while files on it are open. */
  unmount(isLazy?: boolean): void
  remount(mode: 'ro' | 'rw'): void
  /** Makes it read-only as the kernel does after a fault: it is still mounted to be written. */
  forceReadOnly(): void
  /** Unmounts it, if need be, and removes it. */
  remove(): void
}

/**
 * `ext4` keeps its files while it is not mounted; `kindless` is one whose directories do not say what kind their
 * entries are, as those of some network file systems; `memory` is quick when it is full.
 */
export type DiskKind = 'ext4' | 'kindless' | 'memory'

const mebibytes = 8

/** Makes a disk of 8 MiB and mounts it on `path`, which is made. Needs root, or sudo without a password. */
export function makeSmallDisk(path: string, kind: DiskKind): SmallDisk {
  const image = `${path}.img`
  const [uid, gid] = [process.getuid?.(), process.getgid?.()]
  const options = `size=${mebibytes}m,uid=${uid},gid=${gid}`
  const source =
    kind === 'memory'
      ? ['-t', 'tmpfs', '-o', options, 'holdfast-test', path]
      : ['-o', 'loop', image, path]
  writeFileSync(image, '')
  if (kind !== 'memory') {
    truncateSync(image, mebibytes * 1024 * 1024)
    const features = kind === 'kindless' ? ['-O', '^filetype'] : []
    const owner = `root_owner=${uid}:${gid}`
    execFileSync('/sbin/mkfs.ext4', ['-q', '-m', '0', '-E', owner, ...features, image])
  }
  mkdirSync(path)
  const disk: SmallDisk = {
    mount: () => asRoot('mount', ...source),
    unmount: (isLazy = false) => asRoot('umount', ...(isLazy ? ['--lazy'] : []), path),
    remount: (mode) => asRoot('mount', '-o', `remount,${mode}`, path),
    forceReadOnly() {
      disk.remount('ro')
      asRoot('mount', '-o', 'remount,bind,rw', path)
    },
    remove() {
      if (isMounted(path)) disk.unmount(true)
      rmSync(image)
    },
  }
  disk.mount()
  return disk
}

function isMounted(path: string): boolean {
  return readFileSync('/proc/self/mounts', 'utf8').includes(` ${path} `)
}

/**
 * Declares a mocha suite that mounts disks. Where that is not allowed, its tests fail with a remedy, and
 * `scripts/test --without-containers` leaves it out, as it does with suites of containers.
 */
export function describeWithDisks(title: string, body: () => void): void {
  const leftOut = process.env['HOLDFAST_WITHOUT_CONTAINERS']
  if (leftOut && !canMount()) return appendFileSync(leftOut, `${title}\n`)
  describe(title, body)
}

function canMount(): boolean {
  const place = mkdtempSync(join(tmpdir(), 'holdfast-disk-'))
  try {
    makeSmallDisk(join(place, 'disk'), 'ext4').remove()
    return true
  } catch {
    return false
  } finally {
    rmSync(place, { recursive: true })
  }
}
