import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const packages = fileURLToPath(new URL('../../../', import.meta.url))

/** What a reader who follows the documents has installed, and where it is here. */
const installed = {
  '@holdfast/core': 'core',
  '@holdfast/http-koa': 'http-koa',
  '@holdfast/store-disk': 'store-disk',
  '@koa/multer': 'http-koa/node_modules/@koa/multer',
  koa: 'http-koa/node_modules/koa',
}

/** Runs `program` as the main module of a new project outside this repository; resolves with what it prints. */
export async function runInReaderProject(program: string): Promise<string> {
  const project = await mkdtemp(join(tmpdir(), 'holdfast-docs-project-'))
  try {
    for (const [name, path] of Object.entries(installed)) {
      const link = join(project, 'node_modules', name)
      await mkdir(dirname(link), { recursive: true })
      await symlink(join(packages, path), link)
    }
    await writeFile(join(project, 'package.json'), '{"type":"module"}')
    await writeFile(join(project, 'example.ts'), program)
    const run = promisify(execFile)
    const { stdout } = await run(process.execPath, ['example.ts'], { cwd: project })
    return stdout
  } finally {
    await rm(project, { recursive: true, force: true })
  }
}
