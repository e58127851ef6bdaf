import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bundleExecutable } from './bundle-executable.ts'

/** A program of Node.js, of this one's version. */
export interface NodeBinary {
  /** Its path. */
  readonly file: string
  /** Of the machines that it is for, as `process.arch` names them. */
  readonly arch: string
}

/** Node looks for its script under this name, where this mark ends in `:1`. https://nodejs.org/api/single-executable-applications.html */
const resource = 'NODE_SEA_BLOB'
const sentinelFuse = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

const postject = fileURLToPath(new URL('cli.js', import.meta.resolve('postject')))

/**
 * Makes `file` the command of the repository at `root`, which is built, as a single executable on `node`: it needs neither Node.js nor
 * other files, but the C and C++ libraries that Node.js needs. The same sources on the same kind of machine give the same bytes.
 */
export async function makeExecutable(root: string, node: NodeBinary, file: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-executable-'))
  try {
    await bundleExecutable(root, folder)
    await prepareBlob(folder, node.arch === process.arch)
    await copyFile(node.file, join(folder, 'program'))
    await chmod(join(folder, 'program'), 0o755)
    await run(folder, postject, 'program', resource, 'blob', '--sentinel-fuse', sentinelFuse)
    await copyFile(join(folder, 'program'), `${file}.unfinished`)
    await rename(`${file}.unfinished`, file)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Compiled code is for one kind of machine, and halves what the program takes to start. Paths are relative, since they go into the blob. */
async function prepareBlob(folder: string, isCompiled: boolean): Promise<void> {
  const entries = await readdir(join(folder, 'files'), { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const assets = paths.map((path) => relative(join(folder, 'files'), path)).sort()
  const config = {
    main: 'main.cjs',
    output: 'blob',
    disableExperimentalSEAWarning: true,
    useCodeCache: isCompiled,
    assets: Object.fromEntries(assets.map((name) => [name, join('files', name)])),
  }
  await writeFile(join(folder, 'config.json'), JSON.stringify(config))
  // Without the seed the compiled code has other bytes each time. Node runs it with another one all the same.
  await run(folder, '--random-seed=1', '--experimental-sea-config', 'config.json')
}

async function run(cwd: string, ...args: string[]): Promise<void> {
  await promisify(execFile)(process.execPath, args, { cwd })
}
