import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readPackages } from '../boundaries/read-packages.ts'
import { renderArchitecture } from './render-architecture.ts'

/** Where the picture is, below the root of the repository. */
export const image = 'docs/architecture.svg'

/** Reports whether the picture of the repository at `root` shows other packages than there are: one sentence, or none. */
export async function imageProblems(root: string, reading = readPackages(root)): Promise<string[]> {
  const present = await readFile(join(root, image), 'utf8').catch(() => undefined)
  const wanted = renderArchitecture(await reading)
  return present === wanted
    ? []
    : [`${image} does not show the packages as they are: run node scripts/draw-architecture.ts`]
}
