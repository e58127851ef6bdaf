import { readdir, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '@holdfast/testing'
import { expect } from 'chai'
import { stranger, type CrashSite } from './crash-site.ts'
import { send, type Answer } from './send.ts'
import type { UploadAtStake } from './scenario.ts'
import { startSurvivor } from './surviving-server.ts'

/** What a server needs for these uploads. */
export const settings = { 'resumable-draft': 'true' }

/** An upload as it is found. */
export interface FoundUpload {
  /** Where its client expects it; `undefined` if the answer with its place never came. */
  readonly path?: string
  /** Bytes that count towards the quota. */
  readonly unfinishedBytes: number
  readonly isComplete: boolean
}

/** Has another server begin the upload as far as it was before, and resolves with its path. */
export async function beginBefore(site: CrashSite, upload: UploadAtStake): Promise<string> {
  const { protocol, file, before, prepare, after } = upload
  if (before === undefined) return ''
  const server = await startSurvivor(site, settings)
  try {
    const path = pathIn(await protocol.begin(server.url, file, before), upload) ?? ''
    expect(path, 'the upload before').to.not.equal('')
    const directory = join(site.uploads, path.split('/').at(-1) ?? '')
    await server.stop()
    await prepare?.(directory)
    if (after !== 'expired') return path
    for (const name of await readdir(directory)) await utimes(join(directory, name), 1, 1)
    return path
  } finally {
    await server.stop(AbortSignal.abort())
  }
}

/** Resolves when a server that has just started has removed what had expired. */
export async function awaitSweep(site: CrashSite, litter: number): Promise<void> {
  await until('the upload is swept', async () => {
    return (await site.uploadIds()).length === 0 && (await site.litter()).length === litter
  })
}

/** Checks what the server at `url` has of the upload that began at `place`, or in a request with this answer. */
export async function expectUpload(
  site: CrashSite,
  url: string,
  upload: UploadAtStake,
  { place, answer }: { readonly place: string; readonly answer?: Answer | undefined },
): Promise<FoundUpload> {
  const { protocol, file, before, after } = upload
  const path = place || (answer && pathIn(answer, upload))
  const ids = await site.uploadIds()
  expect(ids.length, 'uploads in pieces').to.be.at.most(1)
  const [onDisk] = ids.map((id) => protocol.pathOf(id))
  const found = await protocol.look(url, path ?? onDisk ?? protocol.pathOf('none'))
  await expectHidden(url, upload, path ?? onDisk)
  const known = path === undefined ? {} : { path }
  if (found.status === 404) {
    const mayBeGone = path === undefined || typeof after === 'string'
    expect(mayBeGone, `that ${path} is gone`).to.equal(true)
    expect(ids).to.deep.equal([])
    return { ...known, unfinishedBytes: 0, isComplete: false }
  }
  expect(found.status).to.be.oneOf([200, 204])
  const offset = Number(found.headers['upload-offset'])
  const isAnswered = answer?.isWhole === true
  expect(isAnswered && typeof after === 'string', 'an upload that has ended').to.equal(false)
  const most = typeof after === 'number' ? after : (before ?? 0)
  expect(offset, 'the offset').to.be.within(isAnswered ? most : (before ?? 0), most)
  const isComplete = protocol.isComplete(found, file)
  return { ...known, unfinishedBytes: isComplete ? 0 : offset, isComplete }
}

/** Goes on with the upload at the server at `url`, or begins another one where no answer has said where it is. */
export async function goOn(
  site: CrashSite,
  url: string,
  upload: UploadAtStake,
  { path: known }: FoundUpload,
): Promise<void> {
  const { protocol, file, after } = upload
  const path = known ?? pathIn(await protocol.begin(url, file, 0), upload) ?? ''
  const found = await protocol.look(url, path)
  if (typeof after === 'string') {
    if (found.status !== 404) expect((await protocol.discard(url, path)).status).to.equal(204)
    expect((await protocol.look(url, path)).status, 'of an upload that has ended').to.equal(404)
    return
  }
  if (!protocol.isComplete(found, file)) {
    const begin = Number(found.headers['upload-offset'])
    const range = { begin, end: file.content.length }
    const { status, content } = await protocol.append(url, path, file, range)
    expect(status, content.toString()).to.be.oneOf([200, 204])
  }
  expect(protocol.isComplete(await protocol.look(url, path), file), 'that it is whole').to.equal(
    true,
  )
  const id = path.split('/').at(-1) ?? ''
  const entries = await readdir(site.uploads, { recursive: true, withFileTypes: true })
  const kept = entries.filter(
    (entry) => entry.isFile() && join(entry.parentPath, entry.name).includes(id),
  )
  // The record of a publication that was not noted as done has the second name, and that of a file that came as a whole its id.
  expect(kept, 'what is kept of it').to.have.length(1)
  expect(kept[0]?.name).to.be.oneOf(['published.json', 'upload.json', id])
}

/** The path that an answer gives; `undefined` if none has come. */
function pathIn({ headers: { location } }: Answer, { protocol }: UploadAtStake) {
  return location === undefined ? undefined : protocol.pathOf(location.split('/').at(-1) ?? '')
}

/** Checks that another customer finds nothing. */
async function expectHidden(url: string, { protocol }: UploadAtStake, path?: string) {
  const listed = await send(url, 'GET', '/list', undefined, stranger)
  expect(listed.content.toString(), 'the list of another one').to.include('No files uploaded yet')
  if (path === undefined) return
  expect((await protocol.look(url, path, stranger)).status, 'to another customer').to.equal(404)
}
