import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { pageLibraries } from '../program/page-libraries.ts'
import { packageManager } from './package-manager.ts'

/** What of a CycloneDX document is different each time it is made, by content or by order. */
interface Document {
  serialNumber: string
  metadata: { timestamp: string; component: { 'bom-ref': string } }
  components: { 'bom-ref': string; scope?: string; properties?: unknown }[]
  dependencies: { ref: string; dependsOn?: string[] }[]
}

/**
 * Writes into `file`, as CycloneDX 1.6, what the package holdfast of the clone at `root` brings along: every package of the
 * lockfile, which is what was tested, with version, licence and hash, and the libraries that its page is bundled of. The same
 * commit gives the same bytes.
 */
export async function writeBillOfMaterials(root: string, file: string): Promise<void> {
  const made = await listPackages(root, '--prod', '--filter', 'holdfast')
  const page = await bundledInPage(root)
  const others = made.dependencies.filter(
    ({ ref }) => !page.dependencies.some((dependency) => dependency.ref === ref),
  )
  const document = {
    ...made,
    serialNumber: '',
    metadata: { ...made.metadata, timestamp: await committedAt(root) },
    components: inOrder(
      [...made.components, ...page.components],
      (component) => component['bom-ref'],
    ),
    dependencies: inOrder([...others, ...page.dependencies], ({ ref }) => ref),
  }
  await writeDocument(document, file)
}

/** As CycloneDX, what pnpm lists of the clone at `root`. */
async function listPackages(root: string, ...subject: string[]): Promise<Document> {
  const form = ['--sbom-format', 'cyclonedx', '--sbom-spec-version', '1.6']
  const args = ['sbom', ...form, '--sbom-type', 'application', ...subject]
  return JSON.parse(await packageManager(root, args)) as Document
}

/** What the page is bundled of: dependencies for development of its package, whose code is published all the same. */
async function bundledInPage(root: string): Promise<Pick<Document, 'components' | 'dependencies'>> {
  const refs = await Promise.all(
    pageLibraries(root).map(async (folder) => {
      const text = await readFile(join(folder, 'package.json'), 'utf8')
      const { name, version } = JSON.parse(text) as { name: string; version: string }
      return `pkg:npm/${name.replace('@', '%40')}@${version}`
    }),
  )
  const listed = await listPackages(root, '--filter', '@holdfast/web')
  return {
    components: listed.components
      .filter((component) => refs.includes(component['bom-ref']))
      .map(({ scope: _scope, properties: _properties, ...component }) => component),
    dependencies: listed.dependencies.flatMap(({ ref, dependsOn = [] }) => {
      const isOwn = ref === listed.metadata.component['bom-ref']
      return isOwn || refs.includes(ref)
        ? [{ ref, dependsOn: dependsOn.filter((other) => refs.includes(other)) }]
        : []
    }),
  }
}

/**
 * Writes into `file` what the single executable has in it: what the bill of materials `bill` lists, and this Node.js with its own
 * libraries.
 */
export async function writeBillOfExecutable(bill: string, file: string): Promise<void> {
  const document = JSON.parse(await readFile(bill, 'utf8')) as Document
  const { node, ...others } = process.versions
  const ref = `pkg:generic/node@${node}`
  const licenses = [{ license: { id: 'MIT' } }]
  const platform = { type: 'platform', name: 'node', version: node, purl: ref, licenses }
  const libraries = Object.entries(others).map(([name, version = '']) => {
    return { type: 'library', 'bom-ref': `${ref}#${name}`, name, version }
  })
  const dependsOn = libraries.map((library) => library['bom-ref'])
  await writeDocument(
    {
      ...document,
      serialNumber: '',
      components: [...document.components, { ...platform, 'bom-ref': ref }, ...libraries],
      dependencies: [...document.dependencies, { ref, dependsOn }],
    },
    file,
  )
}

async function writeDocument(document: Document, file: string): Promise<void> {
  const serialNumber = `urn:uuid:${uuidOf(JSON.stringify(document))}`
  await writeFile(file, `${JSON.stringify({ ...document, serialNumber }, null, 2)}\n`)
}

function inOrder<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  return [...items].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
}

/** When the last commit of the clone at `root` was made, in ISO 8601. */
export async function committedAt(root: string): Promise<string> {
  const { stdout } = await promisify(execFile)('git', ['log', '-1', '--format=%cI'], { cwd: root })
  return new Date(stdout.trim()).toISOString()
}

/** A UUID of a form of its own (RFC 9562, version 8) that follows from `text`. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ]
  return [...parts, hex.slice(20, 32)].join('-')
}
