/**
 * Builds every package of the repository in the working directory: the validators of its schemas into its sources; then, into `dist`, the
 * types by the compiler, which takes the projects that are named (all, where none is), and a module for each entry point by esbuild. Touches no file that would stay the same. Ends with code 1
 * if a type is wrong; what runs is built all the same.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync } from 'node:fs'
import { mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { build } from 'esbuild'
import { writeValidators } from './validator/write-validators.ts'

/** What an export has: the declarations of its source, and the module that it is built into. */
type Exported =
  | string
  | { readonly types: string; readonly browser?: string; readonly default: string }

/** Sources that no export names, and that are modules of their own: what the command starts with, threads, and other processes. */
const started: Readonly<Record<string, readonly string[]>> = {
  holdfast: ['src/main.ts', 'src/prepare-node.ts'],
  passwords: ['src/scrypt-thread.ts'],
  server: ['src/workers/worker-process.ts'],
}

await writeValidators()

const startedAt = new Date()
const typing = spawn(
  process.execPath,
  ['node_modules/@typescript/native/bin/tsc', '--build', ...process.argv.slice(2)],
  { stdio: 'inherit' },
)
const typed = once(typing, 'exit')
await Promise.all(globSync('packages/*/tsconfig.json').map((path) => bundlePackage(dirname(path))))
const [code] = (await typed) as [number | null]
await dateRecordsBack()
process.exitCode = code === 0 ? 0 : 1

/**
 * Lets the types that were built count as built when the compiler started. It takes every source as built that is older than its record:
 * also one that was saved after it had been read, and before the record was written.
 */
async function dateRecordsBack(): Promise<void> {
  for (const record of globSync('packages/*/dist/.tsbuildinfo')) {
    const { atime, mtime } = await stat(record)
    if (mtime > startedAt) await utimes(record, atime, startedAt)
  }
}

/**
 * Bundles the package in `folder`. All modules lie in `dist` itself, so that files of the package have one path relative to each of them.
 * What several entry points share is a module of its own, and exists once when it runs. Other packages stay outside.
 */
async function bundlePackage(folder: string): Promise<void> {
  const { outputFiles } = await build({
    absWorkingDir: resolve(folder),
    entryPoints: await entryPoints(folder),
    outdir: 'dist',
    write: false,
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    platform: 'neutral',
    target: 'es2023',
    sourcemap: 'linked',
    sourcesContent: false,
    logLevel: 'warning',
  })
  for (const { path, contents } of outputFiles) await writeChanged(path, contents)
  const written = new Set(outputFiles.map(({ path }) => path))
  const found = globSync('dist/**/*.{js,js.map}', { cwd: folder, exclude: ['dist/page'] })
  const stale = found.filter((path) => !written.has(resolve(folder, path)))
  for (const path of [...stale, ...orphans(folder)]) await rm(join(folder, path))
}

/** Declarations whose source is gone: the compiler leaves them, and a package would ship them. */
function orphans(folder: string): readonly string[] {
  return globSync('dist/**/*.{d.ts,d.ts.map}', { cwd: folder }).filter((path) => {
    const source = path.replace(/^dist/, 'src').replace(/\.d\.ts(\.map)?$/, '.ts')
    return !existsSync(join(folder, source))
  })
}

/** The sources by the names of what they are built into. */
async function entryPoints(folder: string): Promise<Record<string, string>> {
  const manifest = await readFile(join(folder, 'package.json'), 'utf8')
  const { exports } = JSON.parse(manifest) as { readonly exports: Record<string, Exported> }
  const exported = Object.values(exports).flatMap((one) =>
    typeof one === 'string' ? [] : [[nameOf(one.default), sourceOf(one.types)] as const],
  )
  const others = started[basename(folder)] ?? []
  return Object.fromEntries([...exported, ...others.map((path) => [nameOf(path), path] as const)])
}

function nameOf(path: string): string {
  return basename(path).replace(/\.\w+$/, '')
}

function sourceOf(declarations: string): string {
  return declarations.replace('/dist/', '/src/').replace(/\.d\.ts$/, '.ts')
}

/** A file that stays the same wakes nothing that watches. */
async function writeChanged(path: string, contents: Uint8Array): Promise<void> {
  const old = await readFile(path).catch(() => undefined)
  if (old?.equals(contents)) return
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, contents)
}
