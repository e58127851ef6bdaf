import { createHmac } from 'node:crypto'
import {
  createFileService,
  type FileServiceOptions,
  type LinkServiceOptions,
} from '../../src/file-service.ts'
import { createMemoryBlobStore } from '../../src/memory/memory-blob-store.ts'
import { createMemoryCredentialSource } from '../../src/memory/index.ts'
import type { Credential, CredentialSource } from '../../src/ports/credential-source.ts'
import type { UploadLinkOptions } from '../../src/use-cases/upload-links.ts'
import { arrayOf, chunks } from '../content.ts'
import { refusal } from '../rejection.ts'

export const day = 24 * 60 * 60 * 1000

export type SomeOptions = Partial<Omit<FileServiceOptions, 'links'>> & {
  readonly links?: Partial<LinkServiceOptions>
}

/** A service whose customers and clock change as a test likes. */
export async function startLinks({ links: linkOptions, ...more }: SomeOptions = {}) {
  let now = 1_000_000_000_000
  const rows = new Map<string, Credential>()
  const source = (): CredentialSource => createMemoryCredentialSource(rows.values())
  const signed: string[] = []
  const { store = createMemoryBlobStore() } = more
  const service = createFileService({
    store,
    credentials: {
      find: (name) => source().find(name),
      linkKey: async (name) => source().linkKey?.(name),
    },
    links: {
      createSignature(key) {
        const hmac = createHmac('sha256', key)
        return {
          update: (text) => (signed.push(text), hmac.update(text)),
          digest: (encoding) => hmac.digest(encoding),
        }
      },
      maxAgeMs: day,
      ...linkOptions,
    },
    now: () => now,
    ...more,
  })
  const add = (name: string, passwordHash: string) =>
    rows.set(name, { name, passwordHash, quota: 9 })
  add('alice', 'hash of alice')
  add('bob', 'hash of bob')
  const files = service.filesOf({ name: 'alice' })
  await files.upload('a', chunks(3))
  await files.upload('b', chunks(4))
  const { links } = service
  if (!links || !files.link || !files.uploadLink) throw new Error('There are no links')
  const link = files.link.bind(files)
  const uploadLink = files.uploadLink.bind(files)
  const { token, expiresAt } = await link('a')
  const open = (given: string, name = 'a') => refusal(links.open({ token: given, name }))
  const wait = (ms: number) => void (now += ms)
  return {
    service,
    files,
    links,
    link,
    uploadLink,
    store,
    rows,
    add,
    token,
    expiresAt,
    open,
    wait,
    signed,
  }
}

/** The same with customers who have no quota, and a link of alice's to `name` in `uploads`. */
export async function startUploads(
  name: string,
  options: UploadLinkOptions = {},
  more: Parameters<typeof startLinks>[0] = {},
) {
  const started = await startLinks(more)
  const { rows, links, files, uploadLink } = started
  rows.set('alice', { name: 'alice', passwordHash: 'hash of alice' })
  const { token } = await uploadLink(name, options)
  const openUpload = (presented = name, given = token) =>
    links.openUpload({ token: given, name: presented })
  const names = async () => (await arrayOf(files.list())).flat()
  return { ...started, token, openUpload, names, uploads: await openUpload() }
}
