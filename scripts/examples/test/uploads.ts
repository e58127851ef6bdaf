import { readdir } from 'node:fs/promises'
import { request, type OutgoingHttpHeaders } from 'node:http'
import { join, sep } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'

export interface Part {
  readonly method: string
  readonly headers: OutgoingHttpHeaders
  /** What is sent before the connection breaks. */
  readonly beginning: Uint8Array | string
}

/** Begins an upload, and cuts the connection when the disk store whose directory is `data` has it under way. */
export async function breakOff(url: string, data: string, part: Part): Promise<void> {
  const { method, headers, beginning } = part
  const upload = request(url, { method, headers })
  upload.on('error', () => {})
  upload.write(beginning)
  while ((await underWay(data)).length === 0) await setTimeout(10)
  upload.destroy()
}

/** Waits until nothing is under way in the directory of a disk store, and expects that it keeps no file. */
export async function expectNoFiles(data: string): Promise<void> {
  while ((await underWay(data)).length > 0) await setTimeout(10)
  expect(await filesIn(data)).to.deep.equal([])
}

/** The customers and names of a disk store's files, as `alice/notes.txt`. */
export async function filesIn(data: string): Promise<string[]> {
  const entries = await readdir(join(data, 'files'), { recursive: true })
  return entries.filter((entry) => entry.includes(sep)).sort()
}

async function underWay(data: string): Promise<string[]> {
  const entries = await readdir(join(data, 'tmp'), { recursive: true })
  return entries.filter((entry) => entry.includes(sep))
}
