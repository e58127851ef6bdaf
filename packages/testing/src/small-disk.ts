import { execFileSync } from 'node:child_process'
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
import { join } from 'node:path'
import { asRoot } from './machine.ts'

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
