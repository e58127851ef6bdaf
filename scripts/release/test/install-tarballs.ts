import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { packedPackage, packedPackages } from './packed-packages.ts'

export interface InstallOptions {
  /** The program that npm runs on, and that `engines` are held against; ours unless told. */
  readonly node?: string
  /** Further packages from the registry, each with its range. */
  readonly others?: Readonly<Record<string, string>>
}

/** A project outside the workspace. */
export interface Project {
  readonly folder: string
  remove(): Promise<void>
}

/**
 * Makes a project outside the workspace and has npm install the packages of these `names` there, from tarballs. What they
 * need of this repository comes from tarballs, too; everything else from npm's cache or the registry.
 */
export async function installTarballs(
  names: readonly string[],
  options: InstallOptions = {},
): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-installed-'))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    await installInto(folder, names, options)
    return { folder, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** The same in a folder that is there, whose `package.json` is written anew. */
export async function installInto(
  folder: string,
  names: readonly string[],
  { node = process.execPath, others = {} }: InstallOptions = {},
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
  const run = promisify(execFile)('npm', args, { cwd: folder, env: environmentOf(node) })
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
