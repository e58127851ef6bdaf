import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { sharedInstallation } from '../../../../scripts/release/test/shared-installation.ts'

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
    await symlink((await sharedInstallation()).samples, join(project, 'node_modules'))
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
