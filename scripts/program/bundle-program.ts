import { cp, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { bundlesRequired } from './bundles-required.ts'

/** What is loaded of it lies in one folder; what is loaded on demand, in files of its own, as in the packages. */
const entryPoints = [
  'packages/holdfast/dist/main.js',
  'packages/holdfast/dist/prepare-node.js',
  'packages/server/dist/worker-process.js',
]

/**
 * Bundles the command of the repository at `root`, which is built, with all libraries into the directory `to`, which it replaces.
 * Resolves with the path of its `bin/holdfast.js`. Stack traces have the names of functions, and source maps lie beside the files.
 */
export async function bundleProgram(root: string, to: string): Promise<string> {
  const program = join(to, 'holdfast')
  await rm(to, { recursive: true, force: true })
  await mkdir(program, { recursive: true })
  await build({
    absWorkingDir: root,
    entryPoints: entryPoints.map((path) => join(root, path)),
    entryNames: '[name]',
    outdir: join(program, 'dist'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    sourcemap: true,
    banner: { js: commonJs },
    // Where a library has none of its own.
    define: { __filename: 'bundledFile', __dirname: 'bundledFolder' },
    plugins: [bundlesRequired],
    logLevel: 'warning',
    // What several entry points of a package share has no effect by itself.
    logOverride: { 'ignored-bare-import': 'silent' },
  })
  // The packages read their version there, which is the same for all.
  await cp(join(root, 'packages/holdfast/package.json'), join(program, 'package.json'))
  // The page lies beside the file that opens it.
  await cp(join(root, 'packages/web/dist/page'), join(program, 'dist/page'), { recursive: true })
  await cp(join(root, 'packages/holdfast/bin'), join(program, 'bin'), { recursive: true })
  return join(program, 'bin/holdfast.js')
}

/** What CommonJS libraries find in each module, and ES modules have not. */
const commonJs = `
import { createRequire as requireOf } from 'node:module'
const require = requireOf(import.meta.url)
const { filename: bundledFile, dirname: bundledFolder } = import.meta
`.trim()
