import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { packedPackage, packedPackages } from './packed-packages.ts'

export interface InstallOptions {
  /** Further packages from the registry, each with its range. */
  readonly others?: Readonly<Record<string, string>>
}

/**
 * Has npm install the packages of these `names` in `folder`, outside the workspace, whose `package.json` it writes anew. They, and what
 * they need of this repository, come from tarballs; everything else from npm's cache or the registry.
 */
export async function installInto(
  folder: string,
  names: readonly string[],
  { others = {} }: InstallOptions = {},
): Promise<void> {
  const manifest = {
    private: true,
    type: 'module',
    dependencies: { ...(await filesOf(names)), ...others },
    // Also where one of ours depends on another of ours.
    overrides: await filesOf((await packedPackages()).map(({ name }) => name)),
  }
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest, null, 2))
  const quietly = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error']
  const args = ['install', '--engine-strict', '--prefer-offline', ...quietly]
  const run = promisify(execFile)('npm', args, {
    cwd: folder,
    env: environmentOf(process.execPath),
  })
  await run.catch((error: unknown) => {
    const { stderr } = error as { stderr: string }
    throw new Error(`npm did not install ${names.join(', ')}: ${stderr}`, { cause: error })
  })
}

/** An environment in which `node`, and programs written for it, run on this one. */
export function environmentOf(node: string): NodeJS.ProcessEnv {
  return { ...process.env, PATH: [dirname(node), process.env['PATH']].join(delimiter) }
}

async function filesOf(names: readonly string[]): Promise<Record<string, string>> {
  const tarballs = await Promise.all(names.map(packedPackage))
  return Object.fromEntries(tarballs.map(({ name, file }) => [name, `file:${file}`]))
}
