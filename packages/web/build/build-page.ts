/**
 * Builds the page into dist/page: bundled and minified by Vite, each file also compressed. Does nothing if what it is
 * made of is the same as the last time. Follows `scripts/build-packages.ts`, which builds the client.
 */
import { existsSync, globSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const folder = join(import.meta.dirname, '..')
const out = join(folder, 'dist/page')
/** The page, and the one for those who have a link to upload. */
const pages = ['index.html', 'upload/index.html']
const stamp = join(folder, 'dist/.page-inputs')

const inputs = await digestInputs()
const isCurrent = existsSync(out) && existsSync(stamp) && (await readFile(stamp, 'utf8')) === inputs
if (!isCurrent) await buildPage()

async function digestInputs(): Promise<string> {
  const hash = createHash('sha256')
  const sources = globSync(['page/**/*.{ts,tsx,css,html,svg}', 'build/*.ts'], { cwd: folder })
  const client = globSync('../client/dist/**/*.js', { cwd: folder })
  const manifests = [
    'package.json',
    ...libraries().map((name) => `node_modules/${name}/package.json`),
  ]
  for (const path of [...sources.sort(), ...client.sort(), ...manifests]) {
    hash.update(`${path}\0`).update(await readFile(join(folder, path)))
  }
  return hash.digest('hex')
}

/** What the page is bundled of and by: another version makes another page. */
function libraries(): readonly string[] {
  return ['@noble/hashes', '@preact/signals', 'client-zip', 'lucide', 'marked', 'preact', 'vite']
}

async function buildPage(): Promise<void> {
  // Loaded only now: it takes longer than everything else here.
  const { build } = await import('vite')
  // Beside its place, so that a page is there whole or not at all.
  const unfinished = join(folder, `dist/.page-${process.pid}`)
  await build({
    configFile: false,
    root: join(folder, 'page'),
    // Relative, since an application may serve the page below a path of its own.
    base: './',
    logLevel: 'warn',
    build: {
      outDir: unfinished,
      emptyOutDir: true,
      target: 'es2023',
      // All of them know `light-dark()`.
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      // The policy of the page forbids `data:`.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: { input: pages.map((path) => join(folder, 'page', path)) },
    },
  })
  for (const path of globSync('**/*.*', { cwd: unfinished })) await compress(join(unfinished, path))
  await mkdir(join(folder, 'dist'), { recursive: true })
  await rm(out, { recursive: true, force: true })
  await rename(unfinished, out)
  await writeFile(stamp, inputs)
}

async function compress(file: string): Promise<void> {
  const content = await readFile(file)
  const { BROTLI_PARAM_SIZE_HINT: size } = constants
  await writeFile(`${file}.gz`, gzipSync(content, { level: 9 }))
  await writeFile(`${file}.br`, brotliCompressSync(content, { params: { [size]: content.length } }))
}
