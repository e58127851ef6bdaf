import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import {
  createFileService,
  type BlobStore,
  type FileServiceOptions,
  type Right,
} from '@holdfast/core'
import { createMemoryBlobStore, createMemoryCredentialSource } from '@holdfast/core/memory'
import { createApp, createHttpServer } from '@holdfast/http-koa'
import { openPage } from '@holdfast/web'

/** A server with the page, whose files are in memory. */
export interface RunningPage extends AsyncDisposable {
  readonly url: string
  put(name: string, content: string | Uint8Array): Promise<void>
  /** The content of a file, or `undefined` where there is none. */
  content(name: string): Promise<string | undefined>
  names(): Promise<string[]>
  remove(name: string): Promise<void>
  /** The address of a link to upload. */
  uploadLink(name: string, linkOptions?: object): Promise<string>
  /** The address of a link to download. */
  fileLink(name: string, linkOptions?: object): Promise<string>
  /** Has the clock of links go on by so many milliseconds. */
  pass(ms: number): void
  /** What was asked for, as `GET /list`. */
  readonly asked: readonly string[]
}

const auth = { 'x-auth-name': 'anna', 'x-auth-password': 'sesame' }

/** Further logins of anna, whose password is `sesame`, too. */
type Logins = Readonly<Record<string, readonly Right[]>>

/** Starts it with one customer, `anna`, whose password is `sesame`. Default: with a store that is empty, and no further logins. */
export async function runPage(
  store: BlobStore = createMemoryBlobStore(),
  logins: Logins = {},
  options: Pick<FileServiceOptions, 'keepReplacedMs'> = {},
): Promise<RunningPage> {
  let passed = 0
  const service = createFileService({
    store,
    ...options,
    now: () => Date.now() + passed,
    credentials: createMemoryCredentialSource([
      { name: 'anna', passwordHash: 'sesame' },
      ...Object.entries(logins).map(([login, may]) => ({
        name: `anna/${login}`,
        login,
        passwordHash: 'sesame',
        may,
      })),
    ]),
    verifyPassword: async (password, hash) => password === hash,
    createSha256: () => createHash('sha256'),
    links: { createSignature: (key) => createHmac('sha256', key) },
  })
  const asked: string[] = []
  const app = createApp(service, {
    web: openPage,
    onAnswered: ({ method, path }) => void asked.push(`${method} ${path}`),
  })
  const server = createHttpServer(app)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const at = (verb: string, name: string) => `${url}${verb}/${encodeURIComponent(name)}`
  const makeLink = async (name: string, linkOptions: object) => {
    const body = JSON.stringify(linkOptions)
    const answer = await fetch(at('link', name), { method: 'POST', headers: auth, body })
    return ((await answer.json()) as { url: string }).url
  }
  return {
    url,
    asked,
    pass: (ms) => void (passed += ms),
    async put(name, content) {
      const body = typeof content === 'string' ? content : Buffer.from(content)
      const answer = await fetch(at('upload', name), { method: 'PUT', headers: auth, body })
      if (!answer.ok) throw new Error(await answer.text())
    },
    async content(name) {
      const answer = await fetch(at('serve', name), { headers: auth })
      return answer.ok ? answer.text() : undefined
    },
    async names() {
      const answer = await fetch(`${url}list?after=`, { headers: auth })
      return (await answer.json()) as string[]
    },
    async remove(name) {
      const answer = await fetch(at('delete', name), { method: 'DELETE', headers: auth })
      if (!answer.ok) throw new Error(await answer.text())
    },
    uploadLink: (name, linkOptions) => makeLink(name, { verb: 'upload', ...linkOptions }),
    fileLink: (name, linkOptions = {}) => makeLink(name, linkOptions),
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}
