import { lstat, readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { expect } from 'chai'
import { openDiskBlobStore } from '@holdfast/store-disk'
import { customer, quota, type CrashSite, type Files } from './crash-site.ts'
import { difference } from './patterned-content.ts'
import { send } from './send.ts'

/** Milliseconds after which every upload in pieces has expired. */
const month = 31 * 24 * 3_600_000

/** Checks that the server at `url` lists and serves `files`, whole, and nothing else. */
export async function expectServed(url: string, files: Files): Promise<void> {
  const names = Object.keys(files).sort()
  const { status, content } = await send(url, 'GET', '/list')
  const listed = status === 200 ? (JSON.parse(content.toString()) as unknown) : []
  expect(listed, 'the list').to.deep.equal(names)
  for (const [name, wanted] of Object.entries(files)) {
    const answer = await send(url, 'GET', `/serve/${name}`)
    expect(answer.status, name).to.equal(200)
    expect(difference(answer.content, wanted), `${name} as it is served`).to.equal(undefined)
  }
}

/** Checks that the data directory has `files`, the directories of `servers` servers with `uploads` under way, and no more. */
export async function expectOnDisk(
  site: CrashSite,
  files: Files,
  {
    servers,
    uploads,
    inPieces,
  }: { readonly servers: number; readonly uploads: number; readonly inPieces: boolean },
): Promise<void> {
  const { data } = site
  const top = (await readdir(data)).sort()
  // Uploads in pieces have checks of their own.
  const isOther = (entry: string) => entry !== 'uploads' || !inPieces
  expect(top.filter(isOther)).to.deep.equal(['files', 'holdfast.json', 'tmp'])
  const marker = await readFile(join(data, 'holdfast.json'), 'utf8')
  expect(marker).to.match(/^\{"layout":1,"names":"plain","id":"[0-9a-f-]{36}"\}\n$/)
  expect(await site.owners(), 'directories for temporary files').to.have.length(servers)
  expect(await site.litter(), 'temporary files').to.have.length(uploads)
  const entries = await readdir(join(data, 'files'), { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(join(data, 'files'), join(entry.parentPath, entry.name)))
  expect(paths.sort()).to.deep.equal(
    Object.keys(files)
      .map((name) => join(customer, name))
      .sort(),
  )
  for (const [name, wanted] of Object.entries(files)) {
    const path = join(data, 'files', customer, name)
    expect(difference(await readFile(path), wanted), `${name} on disk`).to.equal(undefined)
    expect((await lstat(path)).nlink, `names of ${name}`).to.equal(1)
  }
}

/** Checks that the customer may store just what is left of the quota beside `files` and unfinished uploads. */
export async function expectQuota(url: string, files: Files, unfinishedBytes = 0): Promise<void> {
  const free = quota - bytesOf(files) - unfinishedBytes
  const tooMuch = await send(url, 'PUT', '/upload/filler', Buffer.alloc(free + 1))
  expect(tooMuch.status, 'a byte more than the quota').to.equal(413)
  const justEnough = await send(url, 'PUT', '/upload/filler', Buffer.alloc(free))
  expect(justEnough.status, 'all of the quota').to.equal(200)
  expect((await send(url, 'DELETE', '/delete/filler')).status).to.equal(200)
}

/** Checks that whoever opens the directory next finds `files`, nothing to clear away, and no upload in pieces after it expires. */
export async function expectCleanOpening(site: CrashSite, files: Files): Promise<void> {
  const { data } = site
  const warnings: string[] = []
  const log = { warn: (line: string) => void warnings.push(line) }
  const store = await openDiskBlobStore({ directory: data, log })
  const usage = await store.usage(customer)
  await store.resumable.sweep(new Date(Date.now() + month))
  await store.close()
  expect(await site.uploadIds(), 'uploads that have expired').to.deep.equal([])
  expect(await site.litter(), 'what a sweep leaves').to.deep.equal([])
  expect(warnings, 'warnings at the second start').to.deep.equal([])
  expect(usage).to.deep.equal({ blobs: Object.keys(files).length, bytes: bytesOf(files) })
}

function bytesOf(files: Files): number {
  return Object.values(files).reduce((sum, { length }) => sum + length, 0)
}
