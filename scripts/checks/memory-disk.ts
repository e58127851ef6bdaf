import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const GiB = 1024 ** 3
const prefix = 'holdfast-memory-disk-'

/** Enough for all that tests keep at a time, several files of a gibibyte among it. */
const mostBytes = 8 * GiB

/** With less, tests that fill the disk would fail for want of room. */
const leastBytes = 4 * GiB

/**
 * Mounts an ext4 file system that lies in memory, with a half of `availableBytes`, and returns its path. It is unmounted when this
 * process ends. Returns `undefined` where there is too little memory, or this process may not mount, or mkfs.ext4 is missing.
 *
 * Tests write 18 GB and sync nearly every file. On a disk each sync takes milliseconds in which processors stand still; here it
 * takes a tenth of that, and everything else is as on a disk: the order of entries, free space, syncs, errors.
 */
export function mountMemoryDisk(availableBytes = process.availableMemory()): string | undefined {
  removeDisksOfDeadRuns()
  const bytes = Math.min(mostBytes, Math.floor(availableBytes / 2))
  if (bytes < leastBytes || process.platform !== 'linux' || process.getuid?.() !== 0)
    return undefined
  const place = mkdtempSync(join(tmpdir(), `${prefix}${process.pid}-`))
  try {
    const path = mountIn(place, bytes)
    process.once('exit', () => remove(place))
    return path
  } catch {
    remove(place)
    return undefined
  }
}

function mountIn(place: string, bytes: number): string {
  // Other users, whose files tests make, pass through it.
  chmodSync(place, 0o755)
  run('mount', '-t', 'tmpfs', '-o', `size=${bytes},mode=755`, 'holdfast-test', place)
  const [image, path] = [join(place, 'image'), join(place, 'disk')]
  writeFileSync(image, '')
  truncateSync(image, bytes)
  run('mkfs.ext4', '-q', '-m', '0', image)
  mkdirSync(path)
  // What is removed is free memory again.
  run('mount', '-o', 'loop,discard', image, path)
  rmdirSync(join(path, 'lost+found'))
  chmodSync(path, 0o1777)
  return path
}

/** Also while processes use it: the last of them takes it along. */
function remove(place: string): void {
  for (const path of [join(place, 'disk'), place]) {
    try {
      run('umount', '--lazy', path)
    } catch {
      // It is not mounted.
    }
  }
  rmSync(place, { recursive: true, force: true })
}

function removeDisksOfDeadRuns(): void {
  for (const name of readdirSync(tmpdir())) {
    const [, pid] = new RegExp(`^${prefix}([0-9]+)-`).exec(name) ?? []
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) remove(join(tmpdir(), name))
  }
}

function run(program: string, ...args: readonly string[]): void {
  execFileSync(program, args, { stdio: 'ignore' })
}
