/**
 * Ends with code 1 and one line a problem when a manifest has a dependency that its package must not have, or when
 * docs/architecture.md or its picture departs from the sources. Part of scripts/test, as are the rules of .dependency-cruiser.mjs.
 */
import { join } from 'node:path'
import { imageProblems } from './architecture/image-problems.ts'
import { manifestProblems } from './boundaries/manifest-problems.ts'
import { pictureProblems } from './boundaries/picture-problems.ts'
import { readPackages } from './boundaries/read-packages.ts'

const root = join(import.meta.dirname, '..')
// Once for all, since it parses every file.
const packages = readPackages(root)
const problems = [
  ...(await manifestProblems(root, packages)),
  ...(await pictureProblems(root, packages)),
  ...(await imageProblems(root, packages)),
]
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
