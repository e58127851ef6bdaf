import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  createSite,
  type HoldfastServer,
  type Site,
  startHoldfast,
  until,
  makeSmallDisk,
  type DiskKind,
  type SmallDisk,
} from '@holdfast/testing'
import { expect } from 'chai'
import { beginSending, send } from '../crash/send.ts'

/** A real server on a data directory to which something happens. */
export interface FaultSite extends Site {
  readonly data: string
  readonly disk: SmallDisk | undefined
  readonly server: HoldfastServer
  /** Sends a request of the customer; resolves with the status and the text, or the error's message. */
  ask(method: string, path: string, body?: string | Buffer): Promise<string>
  /** Begins an upload of `size` bytes and sends half of it. */
  beginUpload(name: string, size: number): StalledUpload
  /** How many descriptors the server has open. */
  descriptors(): number
  /**
   * Fails unless the server is as it was when it had just started: no descriptor more, no temporary file; and its log has
   * the cause of each failure once.
   */
  expectCalm(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface StalledUpload {
  /** Sends the rest; resolves with the status, 0 if the connection was closed without an answer. */
  finish(): Promise<number>
}

export interface FaultSiteOptions {
  /** A disk of its own for the data directory. Default: none. */
  readonly ownDisk?: DiskKind
  readonly obeysPermissions?: boolean
  /** For the server. Default: none. */
  readonly args?: readonly string[]
}

let failures = 0

/** How many requests failed since this was asked last. */
export function countFailures(): number {
  const count = failures
  failures = 0
  return count
}

/** Starts a server that keeps one file, `kept` with the content `old`. */
export async function startFaultSite(options: FaultSiteOptions = {}): Promise<FaultSite> {
  const { ownDisk, obeysPermissions = false, args = [] } = options
  const site = await createSite()
  const data = join(site.path, 'data')
  const disk = ownDisk && makeSmallDisk(data, ownDisk)
  const server = await startHoldfast(args, { cwd: site.path, obeysPermissions })

  const ask = async (method: string, path: string, body?: string | Buffer) => {
    const bytes = body === undefined ? undefined : Buffer.from(body)
    const { status, content, isWhole } = await send(server.url, method, path, bytes)
    if (status >= 500) failures++
    return isWhole ? `${status} ${messageOf(content.toString())}` : `${status} cut`
  }
  const descriptors = () => readdirSync(`/proc/${server.pid}/fd`).length

  expect(await ask('PUT', '/upload/kept', 'old')).to.equal('200 OK')
  expect(await ask('GET', '/serve/kept')).to.equal('200 old')
  expect(await ask('GET', '/list')).to.equal('200 ["kept"]')
  expect(await ask('DELETE', '/delete/missing')).to.equal('400 File not found')
  const atRest = descriptors()

  return {
    ...site,
    data,
    disk,
    server,
    ask,
    descriptors,
    beginUpload: (name, size) => beginUpload(server.url, name, size),
    async expectCalm() {
      await until(
        () => `${descriptors()} descriptors are ${atRest} again`,
        () => descriptors() <= atRest,
      )
      expect(await site.litter()).to.deep.equal([])
      expect(await ask('GET', '/ping')).to.equal('200 pong')
      await until(
        () => `each failure has its cause once: ${server.output()}`,
        () => isEachFailureTold(server),
      )
    },
    async [Symbol.asyncDispose]() {
      await server.kill()
      disk?.remove()
      await site.remove()
    },
  }
}

function messageOf(text: string): string {
  if (!text.startsWith('{')) return text
  return (JSON.parse(text) as { readonly message: string }).message
}

function beginUpload(url: string, name: string, size: number): StalledUpload {
  const { outgoing, answer } = beginSending(url, 'PUT', `/upload/${name}`, {
    'content-length': size,
  })
  const half = Math.floor(size / 2)
  outgoing.write(Buffer.alloc(half, 'x'))
  return {
    async finish() {
      outgoing.end(Buffer.alloc(size - half, 'x'))
      return (await answer).status
    },
  }
}

/** Failures are answers from 500 on, and some of those that broke off; a client may have left as well. */
function isEachFailureTold(server: HoldfastServer): boolean {
  const lines = server.lines()
  const causes = lines.filter(({ level, err }) => level === 50 && err !== undefined)
  const told = causes.map(({ requestId }) => requestId)
  const failed = lines.filter(
    ({ status, aborted, requestId }) =>
      Number(status) >= 500 || (aborted === true && told.includes(requestId)),
  )
  return String(failed.map(({ requestId }) => requestId).sort()) === String(told.sort())
}
