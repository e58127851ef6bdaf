import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const packages = fileURLToPath(new URL('../../../', import.meta.url))

/** What a reader who follows the documents has installed, and where it is here. */
const installed = {
  '@holdfast/contract': 'contract',
  '@holdfast/core': 'core',
  '@holdfast/http-koa': 'http-koa',
  '@holdfast/store-disk': 'store-disk',
  '@koa/multer': 'http-koa/node_modules/@koa/multer',
  '@types/node': 'server/node_modules/@types/node',
  koa: 'http-koa/node_modules/koa',
  mocha: '../node_modules/mocha',
}

/** Runs `use` in a new project of these `files` (name to text) outside this repository, and removes it. */
export async function withReaderProject<Result>(
  files: Readonly<Record<string, string>>,
  use: (project: string) => Promise<Result>,
): Promise<Result> {
  const project = await mkdtemp(join(tmpdir(), 'holdfast-docs-project-'))
  try {
    for (const [name, path] of Object.entries(installed)) {
      const link = join(project, 'node_modules', name)
      await mkdir(dirname(link), { recursive: true })
      await symlink(join(packages, path), link)
    }
    for (const [name, text] of Object.entries(files)) await writeFile(join(project, name), text)
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
