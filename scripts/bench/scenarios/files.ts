import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { link, mkdir, open, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { RunningSubject } from '../subjects/subject.ts'

/** The name that `{n}` makes of a pattern. */
export function numbered(pattern: string, n: number): string {
  return pattern.replace('{n}', String(n).padStart(6, '0'))
}

/**
 * Writes files of random content and lays them into the directories of all `subjects`, as hard links: all serve the same
 * files, from the same page cache. Resolves with the paths of what was written.
 */
export async function layOut(
  directory: string,
  subjects: readonly Pick<RunningSubject, 'files'>[],
  { pattern, count, size }: { pattern: string; count: number; size: number },
): Promise<readonly string[]> {
  const source = join(directory, 'source')
  await mkdir(source, { recursive: true })
  const names = Array.from({ length: count }, (_, n) => numbered(pattern, n))
  for (const some of inGroups(names, 64)) {
    await Promise.all(some.map((name) => writeRandom(join(source, name), size)))
    await Promise.all(
      subjects.flatMap(({ files }) =>
        some.map((name) => link(join(source, name), join(files, name))),
      ),
    )
  }
  await settle()
  return names.map((name) => join(source, name))
}

/** Makes `count` files of `size` zeros in a directory, under names of their own; fast, but in the way of everything else. */
export function makeFiles(
  directory: string,
  { pattern, count, size }: { pattern: string; count: number; size: number },
): void {
  const content = Buffer.alloc(size)
  for (let n = 0; n < count; n++) writeFileSync(join(directory, numbered(pattern, n)), content)
}

/** Empties a directory that has files only. */
export async function removeFiles(directory: string): Promise<void> {
  // Servers may still be removing what was broken off when the load ended.
  for (const name of await readdir(directory)) rmSync(join(directory, name), { force: true })
}

/** Waits until the disk has everything that was written, so that the work of one measurement does not fall into the time of another. */
export async function settle(): Promise<void> {
  await promisify(execFile)('sync')
}

const MiB = 1024 ** 2
const random = randomBytes(MiB)

async function writeRandom(path: string, size: number): Promise<void> {
  // A place of its own in the random bytes makes each a content of its own.
  const at = Math.floor(Math.random() * (MiB / 2))
  if (size <= MiB / 2) return writeFile(path, random.subarray(at, at + size))
  const file = await open(path, 'w')
  for (let left = size; left > 0; left -= MiB) await file.write(random, 0, Math.min(left, MiB))
  await file.close()
}

function* inGroups<T>(all: readonly T[], size: number): Iterable<readonly T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
}
