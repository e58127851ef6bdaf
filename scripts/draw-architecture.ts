/** Draws docs/architecture.svg from the manifests of the packages. scripts/check-boundaries.ts fails when it is out of date. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { image } from './architecture/image-problems.ts'
import { renderArchitecture } from './architecture/render-architecture.ts'
import { readPackages } from './boundaries/read-packages.ts'

const root = join(import.meta.dirname, '..')
await writeFile(join(root, image), renderArchitecture(await readPackages(root)))
