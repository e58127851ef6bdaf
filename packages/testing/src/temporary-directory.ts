import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TemporaryDirectory {
  readonly path: string
  remove(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * A new directory in `parent`, which is removed by `remove`, or at the end of the scope that declares it with `await using`.
 * Default parent: that of the system's temporary files.
 */
export async function makeTemporaryDirectory(parent = tmpdir()): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(parent, 'holdfast-test-'))
  const remove = () => rm(path, { recursive: true, force: true })
  return { path, remove, [Symbol.asyncDispose]: remove }
}
