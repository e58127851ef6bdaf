import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { installTarballs } from '../../../../scripts/release/test/install-tarballs.ts'

/** What a reader who follows the documents has installed, of ours and of others. */
const ours = ['contract', 'core', 'http-koa', 'store-disk'].map((name) => `@holdfast/${name}`)
const others = { '@koa/multer': '^4', '@types/node': '^24', koa: '^3', mocha: '^12' }

let installed: Promise<string> | undefined

/** Installs them once for all projects of this process; resolves with the folder of modules. */
async function install(): Promise<string> {
  const { folder } = await installTarballs(ours, { others })
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'node_modules')
}

/**
 * Runs `use` in a new project of these `files` (path to text) outside this repository, where the packages are installed from
 * tarballs, and removes it.
 */
export async function withReaderProject<Result>(
  files: Readonly<Record<string, string>>,
  use: (project: string) => Promise<Result>,
): Promise<Result> {
  const project = await mkdtemp(join(tmpdir(), 'holdfast-docs-project-'))
  try {
    await symlink(await (installed ??= install()), join(project, 'node_modules'))
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(project, name)), { recursive: true })
      await writeFile(join(project, name), text)
    }
    return await use(project)
  } finally {
    await rm(project, { recursive: true, force: true })
  }
}

/** Runs `program` as the main module of a new project outside this repository; resolves with what it prints. */
export async function runInReaderProject(program: string): Promise<string> {
  const files = { 'package.json': '{"type":"module"}', 'example.ts': program }
  return withReaderProject(files, async (cwd) => {
    const { stdout } = await promisify(execFile)(process.execPath, ['example.ts'], { cwd })
    return stdout
  })
}
