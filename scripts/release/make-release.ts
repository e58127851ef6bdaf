import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { changelogSection } from './changelog-section.ts'
import { packPackages } from './pack-packages.ts'
import { packageManager } from './package-manager.ts'
import { writeBillOfMaterials } from './write-bill-of-materials.ts'
import { writeChecksums } from './write-checksums.ts'

const run = promisify(execFile)

/**
 * Makes the release of the last commit of the repository at `root`, which `releaseProblems` has nothing to say against, in
 * `out`, which appears when it is complete. What lies about in the working copy, such as modules of sources that are gone,
 * does not get into it.
 */
export async function makeRelease(
  root: string,
  version: string,
  out: string,
  onStep: (step: string) => void,
): Promise<void> {
  const workplace = await mkdtemp(join(tmpdir(), 'holdfast-release-'))
  await mkdir(dirname(out), { recursive: true })
  // Beside its place, from where it can be renamed.
  const folder = await mkdtemp(`${out}.unfinished-`)
  try {
    const copy = join(workplace, 'holdfast')
    onStep('builds a clean copy')
    await buildCopy(root, copy)
    onStep('packs')
    await packPackages(copy, folder)
    onStep('lists what is inside')
    await writeBillOfMaterials(copy, join(folder, `holdfast-${version}.cdx.json`))
    const section = changelogSection(await readFile(join(copy, 'CHANGELOG.md'), 'utf8'), version)
    const notes = `# holdfast ${version}\n\n${section?.text ?? ''}\n`
    await writeFile(join(folder, 'RELEASE-NOTES.md'), notes)
    await copyFile(join(copy, 'docs/deploy/holdfast.service'), join(folder, 'holdfast.service'))
    await writeChecksums(folder)
    await chmod(folder, 0o755)
    await rename(folder, out)
  } finally {
    await rm(workplace, { recursive: true, force: true })
    await rm(folder, { recursive: true, force: true })
  }
}

async function buildCopy(root: string, copy: string): Promise<void> {
  await run('git', ['clone', '--quiet', root, copy])
  // No package has a script that a build needs.
  const install = ['install', '--frozen-lockfile', '--prefer-offline', '--ignore-scripts']
  await packageManager(copy, install)
  const tsc = join(copy, 'node_modules/typescript/bin/tsc')
  await run(process.execPath, [tsc, '--build'], { cwd: copy })
  await run(process.execPath, [join(copy, 'packages/web/build/build-page.ts')])
}
