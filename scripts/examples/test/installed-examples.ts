import { cpSync, globSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { sharedInstallation } from '../../release/test/shared-installation.ts'

const source = join(import.meta.dirname, '../../../examples')
let installed: Promise<string> | undefined

/**
 * A folder outside of the workspace with a copy of every example, and all that their manifests ask for: our packages
 * from tarballs, the others from npm. Made once for all tests of this process and removed with it.
 */
export function installedExamples(): Promise<string> {
  installed ??= install()
  return installed
}

async function install(): Promise<string> {
  const { samples } = await sharedInstallation()
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-examples-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  // One level below what is installed, where Node looks for it.
  symlinkSync(samples, join(folder, 'node_modules'))
  cpSync(source, join(folder, 'examples'), { recursive: true })
  return join(folder, 'examples')
}

/** The names of all examples. */
export function exampleNames(): readonly string[] {
  return globSync('*/package.json', { cwd: source }).map(dirname).sort()
}
