import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import {
  fencedBlocks,
  withStatement,
} from '../../../packages/system-tests/test/docs/documented-steps.ts'
import { publishedPackages } from '../pack-packages.ts'
import { linkPackages } from './link-packages.ts'
import { sharedInstallation } from './shared-installation.ts'

const root = join(import.meta.dirname, '../../..')

/** Checks also the declarations of the packages. */
const checking = [
  ...['--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'],
  ...['--skipLibCheck', 'false'],
]

/** An application of somebody strict: every entry is imported, and what they say fits together. */
const application = `
import { createReadStream } from 'node:fs'
import type { Server } from 'node:http'
import { describeBlobStore } from '@holdfast/contract'
import { injectFaults } from '@holdfast/contract/faults'
import { copyFiles } from '@holdfast/copy'
import { createFileService, type BlobStore, type FileService } from '@holdfast/core'
import { createMemoryBlobStore } from '@holdfast/core/memory'
import { openFileCredentialSource } from '@holdfast/credentials-file'
import { createApp, createHttpServer, createMulterStorage, createRouter } from '@holdfast/http-koa'
import { isOrigin } from '@holdfast/http-koa/is-origin'
import { createPasswordVerifier } from '@holdfast/passwords'
import { resolveConfig, startServer } from '@holdfast/server'
import { settings } from '@holdfast/server/config'
import { examine } from '@holdfast/server/doctor'
import { runServer } from '@holdfast/server/run'
import { openStore } from '@holdfast/server/stores'
import { visible } from '@holdfast/server/visible'
import { openDiskBlobStore } from '@holdfast/store-disk'
import { openMinioBlobStore } from '@holdfast/store-minio'

const bucket = { endpoint: 'http://127.0.0.1', bucket: 'b', accessKey: 'a', secretKey: 's' }
export const stores: readonly Promise<BlobStore>[] = [
  openDiskBlobStore({ directory: 'data' }),
  openMinioBlobStore(bucket),
  Promise.resolve(createMemoryBlobStore()),
]
export async function serve(store: BlobStore): Promise<Server> {
  const credentials = await openFileCredentialSource('customers.yaml', { onWarning: console.warn })
  const verifyPassword = createPasswordVerifier()
  const service: FileService = createFileService({ store, credentials, verifyPassword })
  const app = createApp(service, { log: console })
  app.use(createRouter(service, { prefix: '/files' }).routes())
  app.use((ctx) => (ctx.body = ctx.path.toUpperCase()))
  const files = service.filesOf({ name: 'alice' })
  await files.upload('a', createReadStream('a'))
  await files.upload('a', new Blob(['text']))
  await files.upload('a', new Blob(['text']).stream())
  await files.upload('a', await fetch('https://example.com'))
  await files.upload('a', Buffer.from('text'))
  return createHttpServer(app)
}
// @ts-expect-error: a directory is no number, which an import that is any would not say.
void openDiskBlobStore({ directory: 1 })
// @ts-expect-error: the same of Koa, whose types come along.
createApp(createFileService({ store: createMemoryBlobStore() })).no()
export const others = [copyFiles, describeBlobStore, injectFaults, createMulterStorage, resolveConfig, startServer]
export const floors = [settings, examine, runServer, openStore, visible, isOrigin]
`

describe('The types of the packages, installed from tarballs,', function () {
  this.timeout(180_000)

  it('compile in a strict application, their own declarations checked as well', async () => {
    const { packages } = await sharedInstallation()
    const libraries = ['--lib', 'es2024', '--types', 'node']
    await compile(packages, { 'application.ts': application }, [...checking, ...libraries])
  })

  it('let every sample of the READMEs compile, under strict', async () => {
    const files = sampleFiles()
    expect(Object.keys(files)).to.have.length.above(14)
    const { samples } = await sharedInstallation()
    const libraries = ['--lib', 'es2024', '--types', 'node,mocha', '--skipLibCheck']
    await compile(samples, files, libraries)
  })

  it('of core need neither Node nor anything else', async () => {
    const program = `import { createFileService } from '@holdfast/core'
       import { createMemoryBlobStore } from '@holdfast/core/memory'
       export const service = createFileService({ store: createMemoryBlobStore() })
       export const upload = async (files = service.filesOf({ name: 'alice' })) => {
         await files.upload('a', new Blob(['text']))
         await files.upload('a', new Blob(['text']).stream())
         await files.upload('a', await fetch('https://example.com'))
         await files.upload('a', 'text')
         // @ts-expect-error: a promise is no content.
         await files.upload('a', fetch('https://example.com'))
       }`
    const { packages } = await sharedInstallation()
    const alone = await mkdtemp(join(tmpdir(), 'holdfast-core-'))
    try {
      linkPackages(packages, alone, ['@holdfast/core'])
      await compile(alone, { 'application.ts': program }, [...checking, '--lib', 'es2024,dom'])
    } finally {
      await rm(alone, { recursive: true })
    }
  })
})

/** The TypeScript of the documents for those who install the packages, by the name of a file for each. */
function sampleFiles(): Readonly<Record<string, string>> {
  const published = publishedPackages(root).map(
    (name) => `packages/${name.replace('@holdfast/', '')}`,
  )
  const documents = [
    'README.md',
    'docs/embedding.md',
    ...published.map((path) => `${path}/README.md`),
  ]
  const samples = documents.flatMap((document) => {
    const text = readFileSync(join(root, document), 'utf8')
    const name = document.replaceAll(/\W/g, '-')
    const declared = [...text.matchAll(/`(declare module '[^']+')`/g)].map(([, line = '']) => line)
    return [
      ...wholeSamples(text).map((sample, index) => [`${name}-${index + 1}.ts`, sample]),
      ...(declared.length > 0 ? [[`${name}.d.ts`, declared.join('\n')]] : []),
    ] as [string, string][]
  })
  return Object.fromEntries(samples)
}

/** The samples of a document; one that imports nothing is a statement for the sample before it. */
function wholeSamples(text: string): readonly string[] {
  const samples: string[] = []
  for (const sample of fencedBlocks(text, 'ts')) {
    const before = samples.at(-1)
    const isWhole = before === undefined || /^import /m.test(sample)
    samples.push(isWhole ? sample : withStatement(before, sample))
  }
  return samples
}

/** The native compiler, which the packages are built with, and the last one written in TypeScript, which users still have. */
const compilers = ['@typescript/native/bin/tsc', 'typescript/bin/tsc6']

/**
 * Compiles these files, by their names, with what they import of the folder `modules`, with each compiler; rejects with what is
 * wrong.
 */
async function compile(
  modules: string,
  files: Readonly<Record<string, string>>,
  flags: readonly string[],
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-compiled-'))
  try {
    await symlink(modules, join(folder, 'node_modules'))
    await writeFile(join(folder, 'package.json'), '{"type": "module"}')
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
    const args = ['--noEmit', '--module', 'nodenext', '--strict', ...flags, ...Object.keys(files)]
    for (const compiler of compilers) {
      const tsc = join(root, 'node_modules', compiler)
      const run = promisify(execFile)(process.execPath, [tsc, ...args], { cwd: folder })
      const { stdout } = await run.catch((error: unknown) => error as { stdout: string })
      expect(stdout, compiler).to.equal('')
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}
