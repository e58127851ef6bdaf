import { createHash } from 'node:crypto'
import { copyFiles as copy, type CopyOptions, type CopyResult } from '../src/copy-files.ts'

/** `copyFiles` with a hash of Node. */
export function copyFiles(options: Omit<CopyOptions, 'createHash'>): Promise<CopyResult> {
  return copy({ ...options, createHash: () => createHash('sha256') })
}
