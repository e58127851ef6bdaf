import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeExecutable } from '../make-executable.ts'
import { nodeBinary } from '../node-binary.ts'
import { executableFile } from './executable-file.ts'

const root = join(import.meta.dirname, '../../..')

/** Where Debian keeps the libraries of ARM on machines of other kinds. */
const libraries = '/usr/aarch64-linux-gnu'

/** The single executable for machines with ARM, as a program that runs on this one. */
export interface ArmExecutable extends AsyncDisposable {
  readonly program: string
}

/** On a machine of another kind QEMU translates it while it runs, which makes it some five times as slow. */
export async function makeArmExecutable(): Promise<ArmExecutable> {
  if (process.arch === 'arm64') {
    return { program: await executableFile(), [Symbol.asyncDispose]: async () => {} }
  }
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-arm-'))
  const executable = join(folder, 'holdfast')
  await makeExecutable(root, await nodeBinary('arm64'), executable)
  const program = join(folder, 'translated')
  await writeFile(
    program,
    `#!/bin/sh\nexec qemu-aarch64-static -L ${libraries} '${executable}' "$@"\n`,
  )
  await chmod(program, 0o755)
  return { program, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}
