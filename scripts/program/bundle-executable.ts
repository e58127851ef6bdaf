import { cp, mkdir, readFile, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { bundlesRequired } from './bundles-required.ts'

/** Node's modules that read files or start threads, each with the one that stands in for it. */
const standIns: Readonly<Record<string, string>> = {
  'node:fs': 'fs.ts',
  'node:fs/promises': 'fs-promises.ts',
  'node:worker_threads': 'worker-threads.ts',
}

/** Where the modules find themselves. No one can make a file there, so that what is not in the executable is nowhere. */
const folder = '/proc/self/embedded/holdfast/dist'

/** A worker of a server is this program again, which Node starts with the path of the script as an argument. */
const entry = `
import { spareMemory } from './packages/holdfast/dist/prepare-node.js'
process.env.UV_THREADPOOL_SIZE ||= '16'
spareMemory(process.argv[2])
if (process.argv[2] === '${folder}/worker-process.js') void import('./packages/server/dist/worker-process.js')
else void import('./packages/holdfast/dist/main.js').then(async ({ main }) => {
  process.exitCode = await main(process.argv.slice(2))
})
`.trim()

const common = {
  bundle: true,
  format: 'cjs',
  platform: 'node',
  target: 'node24',
  logLevel: 'warning',
  // What several entry points of a package share has no effect by itself.
  logOverride: { 'ignored-bare-import': 'silent' },
} as const

/**
 * Bundles the command of the repository at `root`, which is built, as one CommonJS script with all libraries, into the directory `to`,
 * which it replaces: `main.cjs`, and below `files` what it reads when it runs. The same sources give the same bytes.
 * Resolves with the paths of all modules in it.
 */
export async function bundleExecutable(root: string, to: string): Promise<readonly string[]> {
  const files = join(to, 'files')
  await rm(to, { recursive: true, force: true })
  await mkdir(join(files, 'holdfast/dist'), { recursive: true })
  const { metafile } = await build({
    ...common,
    absWorkingDir: root,
    metafile: true,
    stdin: { contents: entry, resolveDir: root, sourcefile: 'executable.js' },
    outfile: join(to, 'main.cjs'),
    define: {
      'import.meta.url': JSON.stringify(`file://${folder}/main.js`),
      'import.meta.dirname': JSON.stringify(folder),
      __filename: JSON.stringify(`${folder}/main.js`),
      __dirname: JSON.stringify(folder),
    },
    plugins: [bundlesRequired, readsEmbedded],
    // A tenth of the processor's time at the start, and 8 MiB. Names stay; a line that an error quotes is not that long.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 160,
  })
  await build({
    ...common,
    absWorkingDir: root,
    entryPoints: [join(root, 'packages/passwords/dist/scrypt-thread.js')],
    outfile: join(files, 'holdfast/dist/scrypt-thread.js'),
  })
  // Each where its package looks for it, as seen from the one script. All packages have one version.
  await cp(join(root, 'packages/holdfast/package.json'), join(files, 'holdfast/package.json'))
  await cp(join(root, 'packages/web/dist/page'), join(files, 'holdfast/dist/page'), {
    recursive: true,
  })
  return Object.keys(metafile.inputs).map((path) => resolve(root, path))
}

/** A module of ours that looks for files beside itself finds them in the executable. */
const readsEmbedded: Plugin = {
  name: 'reads-embedded',
  setup: (bundling) =>
    bundling.onResolve(
      { filter: /^node:(fs|fs\/promises|worker_threads)$/ },
      async ({ path, importer }) => {
        const standIn = standIns[path]
        if (standIn === undefined || !/\/packages\/[^/]+\/dist\//.test(importer)) return undefined
        const text = await readFile(importer, 'utf8')
        if (!/\bimport\.meta\b/.test(text)) return undefined
        return { path: join(import.meta.dirname, 'inside', standIn) }
      },
    ),
}
