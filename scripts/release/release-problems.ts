import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { changelogSection } from './changelog-section.ts'
import { versionsOf } from './versions.ts'

/**
 * Says why no release of `version` can be made of the repository at `root` into `out`, all of it; none when it can. A draft
 * needs no date in the changelog.
 */
export async function releaseProblems(
  root: string,
  version: string,
  out: string,
  isDraft: boolean,
): Promise<readonly string[]> {
  return [
    ...(await changeProblems(root)),
    ...(await versionProblems(root, version)),
    ...(await changelogProblems(root, version, isDraft)),
    ...(existsSync(out) ? [`${out} is there already: remove it, or name another with --out.`] : []),
  ]
}

async function changeProblems(root: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('git', ['status', '--porcelain'], { cwd: root })
  const paths = stdout.split('\n').filter((line) => line !== '')
  return paths.length === 0
    ? []
    : [`These are not committed: ${paths.map((line) => line.slice(3)).join(', ')}.`]
}

async function versionProblems(root: string, version: string): Promise<string[]> {
  const others = [...(await versionsOf(root))].filter(([, found]) => found !== version)
  const said = others.map(([path, found]) => `${path} (${found})`).join(', ')
  return others.length === 0
    ? []
    : [`These have another version: ${said}. Run scripts/release/run --set ${version}, and commit.`]
}

async function changelogProblems(
  root: string,
  version: string,
  isDraft: boolean,
): Promise<string[]> {
  const section = changelogSection(await readFile(join(root, 'CHANGELOG.md'), 'utf8'), version)
  if (section === undefined) return [`CHANGELOG.md has no section "## ${version} - DATE".`]
  if (section.text === '') return [`CHANGELOG.md says nothing of ${version}.`]
  if (isDraft || /^\d{4}-\d{2}-\d{2}$/.test(section.date)) return []
  return [
    `CHANGELOG.md has "${section.date}" where the date of ${version} belongs: write it there and commit, or make a --draft.`,
  ]
}
