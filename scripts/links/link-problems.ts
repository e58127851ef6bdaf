import { existsSync, globSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { headingAnchors, linkDestinations } from './markdown.ts'

const documents = [
  '*.md',
  'docs/**/*.md',
  'packages/*/*.md',
  'packages/*/docs/**/*.md',
  'examples/**/*.md',
  'scripts/*/README.md',
]

/**
 * Says which relative links in the Markdown files of the repository at `root` lead to no file, out of the repository,
 * or to no heading of their file: one sentence a problem, none when all is well. Links with a scheme are not followed.
 */
export async function linkProblems(root: string): Promise<string[]> {
  const files = globSync(documents, { cwd: root })
  const problems = await Promise.all(files.sort().map((file) => problemsIn(root, file)))
  return problems.flat()
}

async function problemsIn(root: string, file: string): Promise<string[]> {
  const destinations = linkDestinations(await readFile(join(root, file), 'utf8'))
  const problems = await Promise.all(
    destinations.filter(isRelative).map((destination) => problemOf(root, file, destination)),
  )
  return problems.filter((problem) => problem !== undefined)
}

async function problemOf(
  root: string,
  file: string,
  destination: string,
): Promise<string | undefined> {
  const [path = '', fragment] = destination.split('#', 2)
  const target = path === '' ? join(root, file) : join(root, dirname(file), decodeURI(path))
  if (relative(root, target).startsWith('..')) {
    return `${file}: ${destination} leads out of the repository`
  }
  if (!existsSync(target)) return `${file}: ${destination} leads to no file`
  if (fragment === undefined || !(await isDocument(target))) return undefined
  const anchors = headingAnchors(await readFile(target, 'utf8'))
  return anchors.includes(decodeURI(fragment))
    ? undefined
    : `${file}: ${destination} names no heading`
}

function isRelative(destination: string): boolean {
  return !/^([a-z][a-z\d+.-]*:|\/\/)/i.test(destination)
}

async function isDocument(path: string): Promise<boolean> {
  return path.endsWith('.md') && (await stat(path)).isFile()
}
