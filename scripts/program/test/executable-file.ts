import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeExecutable } from '../make-executable.ts'
import { nodeBinary } from '../node-binary.ts'

const root = join(import.meta.dirname, '../../..')
let made: Promise<string> | undefined

/**
 * The path of this checkout's single executable: the one that `scripts/test` makes for all its tests, or else one that is made once for
 * all tests of this process and removed with it.
 */
export function executableFile(): Promise<string> {
  made ??= make()
  return made
}

async function make(): Promise<string> {
  const shared = process.env['HOLDFAST_TEST_EXECUTABLE']
  if (shared !== undefined) return shared
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-executable-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'holdfast')
  await makeExecutable(root, await nodeBinary(process.arch), file)
  return file
}
