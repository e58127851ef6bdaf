/** The body of scripts/release/run. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { makeRelease } from './make-release.ts'
import { publishedPackages } from './pack-packages.ts'
import { releaseArguments, releaseHelp, type ReleaseArguments } from './release-arguments.ts'
import { releaseProblems } from './release-problems.ts'
import { setVersion } from './versions.ts'

const root = join(import.meta.dirname, '../..')
process.exitCode = await main()

async function main(): Promise<number> {
  try {
    const args = releaseArguments(process.argv.slice(2), join(root, 'release'))
    if (args === undefined) console.log(releaseHelp)
    else if (args.isToBeSet) await writeVersion(args.version)
    else return await release(args)
    return 0
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    console.error(`release: ${error.message}\nSee scripts/release/run --help.`)
    return 2
  }
}

async function writeVersion(version: string): Promise<void> {
  await setVersion(root, version)
  console.log(`Every package.json says ${version}. Date its section of CHANGELOG.md, and commit.`)
}

async function release({ version, out, isDraft }: ReleaseArguments): Promise<number> {
  const problems = await releaseProblems(root, version, out, isDraft)
  for (const problem of problems) console.error(`release: ${problem}`)
  if (problems.length > 0) return 1
  await makeRelease(root, version, out, (step) => console.error(`release: ${step}`))
  for (const name of (await readdir(out)).sort()) console.log(join(out, name))
  if (isDraft) return 0
  console.log(`\nNothing is published yet. See scripts/release/README.md; in short:
  git tag v${version} && git push origin v${version}`)
  // What is not final must be asked for by this name.
  const tag = version.includes('-') ? ' --tag next' : ''
  for (const name of inOrderOfNeed(publishedPackages(root))) {
    const tarball = join(out, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)
    console.log(`  npm publish ${tarball} --access public${tag}`)
  }
  return 0
}

/** Whoever installs while it is being published finds what a package needs: core first, the command last. */
function inOrderOfNeed(names: readonly string[]): readonly string[] {
  const last = ['@holdfast/server', 'holdfast']
  const rank = (name: string) => (name === '@holdfast/core' ? -2 : last.indexOf(name))
  return [...names].sort((one, other) => rank(one) - rank(other))
}
