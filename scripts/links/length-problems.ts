import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a reader faces at most, in lines: the README and the pages of docs, without the decisions and pages that programs write. */
const longest = 3000

/** Reports whether the documentation of the repository at `root` has become too long to read: one sentence, or none. */
export function lengthProblems(root: string, limit = longest): string[] {
  const pages = globSync(['README.md', 'docs/*.md'], { cwd: root })
  const lines = pages.map(
    (page) => readFileSync(join(root, page), 'utf8').trimEnd().split('\n').length,
  )
  const sum = lines.reduce((total, count) => total + count, 0)
  return sum <= limit
    ? []
    : [`README.md and docs/*.md have ${sum} lines; a reader faces at most ${limit}`]
}
