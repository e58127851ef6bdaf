import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { changelogSection } from './changelog-section.ts'
import { packPackages } from './pack-packages.ts'
import { packageManager } from './package-manager.ts'
import { debianFile } from './debian-texts.ts'
import { makeDebianPackage } from './make-debian-package.ts'
import {
  committedAt,
  writeBillOfExecutable,
  writeBillOfMaterials,
} from './write-bill-of-materials.ts'
import { writeChecksums } from './write-checksums.ts'

const run = promisify(execFile)

/** Of the executables, as `process.arch` names them. */
const architectures = ['x64', 'arm64']

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
    const bill = join(folder, `holdfast-${version}.cdx.json`)
    await writeBillOfMaterials(copy, bill)
    await writeBillOfExecutable(bill, join(folder, `holdfast-${version}-linux.cdx.json`))
    const date = new Date(await committedAt(copy))
    const section = changelogSection(await readFile(join(copy, 'CHANGELOG.md'), 'utf8'), version)
    const notes = `# holdfast ${version}\n\n${section?.text ?? ''}\n`
    await writeFile(join(folder, 'RELEASE-NOTES.md'), notes)
    await copyFile(join(copy, 'docs/deploy/holdfast.service'), join(folder, 'holdfast.service'))
    onStep('writes the licences')
    const licenses = join(folder, `holdfast-${version}-linux-licenses.txt`)
    await run(process.execPath, [join(copy, 'scripts/program/write-licenses.ts'), licenses])
    // Written by the packing of the package.
    const manual = join(copy, 'packages/holdfast/man/holdfast.1')
    for (const arch of architectures) {
      onStep(`makes the executable for ${arch}`)
      const executable = join(folder, `holdfast-${version}-linux-${arch}`)
      const build = join(copy, 'scripts/program/build-executable.ts')
      await run(process.execPath, [build, executable, arch])
      const debian = {
        executable,
        licenses,
        manual,
        arch,
        version,
        changes: section?.text ?? '',
        date,
      }
      await makeDebianPackage(copy, debian, join(folder, debianFile(debian)))
    }
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
  // Before the packing, so that no package is built anew while another one is packed.
  await run(process.execPath, [join(copy, 'scripts/build-packages.ts')], { cwd: copy })
  await run(process.execPath, [join(copy, 'packages/web/build/build-page.ts')])
}
