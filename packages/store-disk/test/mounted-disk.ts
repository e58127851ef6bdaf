import { execFileSync } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { mkdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryDirectory, type TemporaryDirectory } from '@holdfast/testing'

/** File systems on which a file that replaces another has a new place among the entries of its directory. */
export const movingKinds = ['tmpfs', 'Btrfs'] as const

export type MovingKind = (typeof movingKinds)[number]

/** Room for the large blobs of the contract, several times: what is removed is free some time later. */
const btrfsBytes = 1024 * 1024 * 1024

/** A new file system, mounted on a directory of its own. Needs root, or sudo without a password. */
export async function mountDisk(
  kind: MovingKind,
  options = 'size=2g',
): Promise<TemporaryDirectory> {
  const place = await makeTemporaryDirectory()
  const mounted: string[] = []
  const mountOn = (path: string, ...how: readonly string[]) => {
    asRoot('mount', ...how, path)
    mounted.unshift(path)
  }
  const remove = async () => {
    for (const path of mounted) asRoot('umount', '--lazy', path)
    await place.remove()
  }
  try {
    mountOn(place.path, '-t', 'tmpfs', '-o', options, 'holdfast-test')
    const path = kind === 'tmpfs' ? place.path : join(place.path, 'disk')
    if (kind === 'Btrfs') mountOn(path, '-o', 'loop,discard,commit=1', await makeBtrfs(path))
    allowEveryone(path)
    return { path, remove, [Symbol.asyncDispose]: remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** In memory: what the syncs of a disk take is not what is looked at. */
async function makeBtrfs(path: string): Promise<string> {
  await mkdir(path)
  const image = `${path}.img`
  await writeFile(image, '')
  await truncate(image, btrfsBytes)
  // It looks at all that is mounted, and fails where one of that, of another test, is gone.
  const alone = 'mount -t tmpfs none /proc && mkdir /proc/self && : >/proc/self/mounts && exec "$@"'
  const make = ['mkfs.btrfs', '--quiet', image]
  asRoot('unshare', '--mount', '--propagation', 'slave', 'sh', '-c', alone, 'sh', ...make)
  return image
}

function allowEveryone(path: string): void {
  if (process.getuid?.() !== 0) asRoot('chmod', '777', path)
}

function asRoot(...command: readonly string[]): void {
  const [program = '', ...args] = process.getuid?.() === 0 ? command : ['sudo', '-n', ...command]
  const PATH = `${process.env['PATH']}:/usr/sbin:/sbin`
  try {
    execFileSync(program, args, {
      env: { ...process.env, PATH },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
  } catch (cause) {
    const remedy =
      'Mounting needs root, or sudo without a password, and a container that allows it; Btrfs needs mkfs.btrfs (Debian: ' +
      'apt-get install btrfs-progs). scripts/test --without-containers leaves out what they are needed for'
    throw new Error(`${command.join(' ')} failed: ${String(cause)}. ${remedy}`, { cause })
  }
}

/** Declares a mocha suite that mounts disks; `scripts/test --without-containers` leaves it out where that is not allowed. */
export function describeWithMounts(title: string, body: () => void): void {
  const leftOut = process.env['HOLDFAST_WITHOUT_CONTAINERS']
  if (leftOut && !canMount()) return appendFileSync(leftOut, `${title}\n`)
  describe(title, body)
}

function canMount(): boolean {
  try {
    asRoot(
      'unshare',
      '--mount',
      '--propagation',
      'slave',
      'mount',
      '-t',
      'tmpfs',
      'holdfast-test',
      '/mnt',
    )
    asRoot('mkfs.btrfs', '--version')
    return true
  } catch {
    return false
  }
}
