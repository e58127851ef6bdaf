/**
 * Ends with code 1 and one line a problem when a package knows another that it must not know, when files of a package import
 * each other in a circle, or when docs/architecture.md or its picture says otherwise. Part of scripts/test.
 */
import { join } from 'node:path'
import { imageProblems } from './architecture/image-problems.ts'
import { boundaryProblems } from './boundaries/boundary-problems.ts'
import { circleProblems } from './boundaries/circle-problems.ts'
import { pictureProblems } from './boundaries/picture-problems.ts'
import { readPackages } from './boundaries/read-packages.ts'

const root = join(import.meta.dirname, '..')
// Once for all, since it parses every file.
const packages = readPackages(root)
const problems = [
  ...(await boundaryProblems(root, packages)),
  ...(await circleProblems(root, undefined, packages)),
  ...(await pictureProblems(root, packages)),
  ...(await imageProblems(root, packages)),
]
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1
