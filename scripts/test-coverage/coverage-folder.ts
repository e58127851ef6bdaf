import { rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Where the tests of a complete run in `root` leave what they have run of the sources, as .c8rc.json has it, too. */
export function coverageFolder(root: string): string {
  return join(root, 'node_modules/.cache/holdfast/coverage')
}

/** Makes way for a new run. */
export async function forgetCoverage(root: string): Promise<void> {
  await rm(coverageFolder(root), { recursive: true, force: true })
}
