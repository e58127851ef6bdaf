/**
 * The disk whose power is cut, as a process of its own, which root runs: it serves the disk, and mounts and unmounts the
 * file system on it. Takes its directory, the file system, and the owner of the files; then commands on standard input, one
 * JSON value a line, each answered by a line on standard output. The end of standard input ends it, and nothing is left.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { seeded } from '@holdfast/testing'
import { programs, type FileSystem } from '../file-systems.ts'
import { createForgetfulDisk, type Loss } from '../forgetful-disk.ts'
import { serveFuse } from '../serve-fuse.ts'

/** A command, and what its answer says. */
export type DiskCommand =
  | { readonly do: 'make' | 'cut' }
  | { readonly do: 'recover'; readonly loss: Loss; readonly seed: number }

export interface DiskAnswer {
  /** What went wrong. */
  readonly error?: string
  /** How many blocks were in the cache when the power was cut. */
  readonly cached?: number
}

/** What XFS needs at least, and some. */
const size = 320 * 1024 * 1024

const [place = '', kind = '', uid = '0', gid = '0'] = process.argv.slice(2)
const [file, directory] = [join(place, 'disk'), join(place, 'mounted')]
const { make, check } = programs[kind as FileSystem]
const disk = createForgetfulDisk(size)
const supply = { cuts: 0 }
let device: string | undefined

// Whoever started this process ends it; a signal to the whole group must not do so too early.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

const served = await plugIn()
for await (const line of createInterface(process.stdin)) {
  const command = JSON.parse(line) as DiskCommand
  const answer = await obey(command).catch((error: unknown) => ({ error: String(error) }))
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
await unplug()

async function obey(command: DiskCommand): Promise<DiskAnswer> {
  if (command.do === 'recover') return recover(command.loss, command.seed)
  if (command.do === 'make') return makeFileSystem()
  supply.cuts++
  return {}
}

async function recover(loss: Loss, seed: number): Promise<DiskAnswer> {
  await detach()
  const cached = disk.lose(loss, seeded(seed))
  // The file system repairs itself when it is mounted; only then there is something to judge.
  await attach()
  await run('umount', directory)
  await run(...check, device ?? '')
  await mount()
  return { cached }
}

async function makeFileSystem(): Promise<DiskAnswer> {
  mkdirSync(directory)
  device = await findDevice()
  await run(...make, device)
  await mount()
  await run('chown', `${uid}:${gid}`, directory)
  await run('sync', '--file-system', directory)
  return {}
}

async function attach(): Promise<void> {
  device = await findDevice()
  await mount()
}

/** A new block device on the disk, whose sectors are the disk's blocks. */
async function findDevice(): Promise<string> {
  return (await run('losetup', '--find', '--show', '--sector-size', '4096', file)).trim()
}

async function mount(): Promise<void> {
  await run('mount', '-t', kind, device ?? '', directory)
}

/** Takes away the file system and its device. Whoever had files open there is gone, or is about to be. */
async function detach(): Promise<void> {
  const end = Date.now() + 60_000
  for (;;) {
    try {
      await run('umount', directory)
      break
    } catch (error) {
      if (Date.now() > end) throw error
      await delay(20)
    }
  }
  await run('losetup', '--detach', device ?? '')
  device = undefined
}

/**
 * Has the kernel show the disk as a file. The kernel answers only once it is mounted.
 *
 * Mount namespaces that other tests make have copies of what is mounted here, and a file system stays in use until the last copy is
 * gone. Below a shared mount they go together, if the namespace is a slave.
 */
async function plugIn(): Promise<{ readonly end: Promise<void> }> {
  await run('mount', '--bind', place, place)
  await run('mount', '--make-shared', place)
  writeFileSync(file, '')
  const fuse = openSync('/dev/fuse', 'r+')
  const options = 'fd=3,rootmode=100000,user_id=0,group_id=0'
  const args = ['-i', '-t', 'fuse', '-o', options, 'holdfast-power-cut', file]
  const mounting = spawn('mount', args, { stdio: ['ignore', 'ignore', 'inherit', fuse] })
  const [code] = (await once(mounting, 'close')) as [number | null]
  if (code !== 0) throw new Error(`mount ${args.join(' ')} ended with ${code}`)
  return { end: serveFuse(fuse, disk, supply) }
}

async function unplug(): Promise<void> {
  supply.cuts++
  // Also where something failed half-way: each is tried, whatever came of the one before.
  await run('umount', '--lazy', directory).catch(() => {})
  if (device !== undefined) await run('losetup', '--detach', device).catch(() => {})
  await run('umount', '--lazy', file).catch(() => {})
  await run('umount', '--lazy', place).catch(() => {})
  await Promise.race([served.end, delay(10_000)])
  process.exit()
}

/** Never a synchronous call for what is on the disk: it would wait for this process. */
async function run(...[program = '', ...args]: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args)
  return stdout
}
