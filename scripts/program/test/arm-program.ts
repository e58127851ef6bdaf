import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Where Debian keeps the libraries of ARM on machines of other kinds. */
const libraries = '/usr/aarch64-linux-gnu'

/**
 * The path of a program that runs `executable`, which is for machines with ARM, on this machine. On a machine of another kind it is a
 * script in `folder`, and QEMU translates the executable while it runs, which makes it some five times as slow.
 */
export async function armProgram(executable: string, folder: string): Promise<string> {
  if (process.arch === 'arm64') return executable
  const program = join(folder, 'translated')
  const script = `#!/bin/sh\nexec qemu-aarch64-static -L ${libraries} '${executable}' "$@"\n`
  await writeFile(program, script, { mode: 0o755 })
  return program
}
