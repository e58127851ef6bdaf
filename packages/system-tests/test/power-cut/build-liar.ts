import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Whose syncs are none: of all files, of regular ones, of directories; or done too late. */
export type Lie = 'all' | 'files' | 'directories' | 'late'

const source = fileURLToPath(new URL('liar.c', import.meta.url))

/** Builds what makes a process lie into `directory`; returns the environment of such a process. Needs a C compiler. */
export function buildLiar(directory: string, lie: Lie): Readonly<Record<string, string>> {
  const library = join(directory, 'liar.so')
  execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl', '-pthread'])
  return { LD_PRELOAD: library, LIE: lie }
}
