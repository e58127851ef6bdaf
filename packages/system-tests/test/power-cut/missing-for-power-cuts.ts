import { existsSync, readFileSync } from 'node:fs'
import { asRoot } from '@holdfast/testing'
import type { FileSystem } from './file-systems.ts'

/** What this machine's kernel lacks for cutting the power of a disk with `fileSystem`, in words; `undefined` if nothing. */
export function missingForPowerCuts(fileSystem: FileSystem): string | undefined {
  for (const device of ['/dev/fuse', '/dev/loop-control']) {
    if (!existsSync(device)) return `this machine has no ${device}`
  }
  if (isKnown(fileSystem)) return undefined
  try {
    asRoot('modprobe', fileSystem)
  } catch {
    // It is looked for below.
  }
  return isKnown(fileSystem) ? undefined : `this machine’s kernel has no ${fileSystem}`
}

function isKnown(fileSystem: FileSystem): boolean {
  return new RegExp(`\\s${fileSystem}$`, 'm').test(readFileSync('/proc/filesystems', 'utf8'))
}
