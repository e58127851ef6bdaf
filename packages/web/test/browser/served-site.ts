import { createHash } from 'node:crypto'
import { cheapHash, createSite, startHoldfast, type LogLine } from '@holdfast/testing'
import type { Page } from '@holdfast/testing/browsers'
import { startLine, type Line } from './start-line.ts'

/** A real `holdfast serve` that keeps files on disk, behind a line that can break. */
export interface ServedSite extends AsyncDisposable {
  readonly line: Line
  /** A directory for files of the person at the browser. */
  readonly path: string
  readonly write: (name: string, content: string) => Promise<string>
  /** Replaces the file of customers, and waits until the server has read it. */
  readonly setCustomers: (customers: readonly Customer[]) => Promise<void>
  /** Kills the server, and starts another one with the same data. */
  readonly restart: () => Promise<void>
  /** Sends a request as a customer, past the line. */
  readonly ask: (method: string, path: string, body?: string) => Promise<Response>
  /** The content of a file of `anna`. */
  readonly content: (name: string) => Promise<string>
  /** The SHA-256 of a file of `anna`, in hex, as it is downloaded. */
  readonly digest: (name: string) => Promise<string>
  /** The names of `anna`. */
  readonly names: () => Promise<readonly string[]>
  /** The log of the server that runs. */
  readonly log: () => readonly LogLine[]
  /** How much the server keeps of the one upload that this page has not ended. */
  readonly offset: (page: Page) => Promise<number>
}

export interface Customer {
  readonly name: string
  readonly password: string
  readonly quota?: string
}

const anna: Customer = { name: 'anna', password: 'sesame' }

/** Starts it; without `customers`, for `anna`, whose password is `sesame`. */
export async function serveSite(customers: readonly Customer[] = [anna]): Promise<ServedSite> {
  const site = await createSite()
  const line = await startLine()
  const write = (all: readonly Customer[]) => site.write('customers.yaml', yamlOf(all))
  let password = passwordOfAnna(customers)
  const start = async () => {
    const started = await startHoldfast([], { cwd: site.path })
    line.lead(started.port)
    return started
  }
  await write(customers)
  let server = await start()
  const ask = (method: string, path: string, body?: string) =>
    fetch(`${server.url}/${path}`, {
      method,
      headers: { 'x-auth-name': 'anna', 'x-auth-password': password, 'tus-resumable': '1.0.0' },
      ...(body !== undefined && { body }),
    })
  const serve = (name: string) => ask('GET', `serve/${encodeURIComponent(name)}`)
  return {
    line,
    path: site.path,
    write: (name, content) => site.write(name, content),
    ask,
    content: async (name) => (await serve(name)).text(),
    async digest(name) {
      const hash = createHash('sha256')
      for await (const chunk of (await serve(name)).body ?? []) hash.update(chunk)
      return hash.digest('hex')
    },
    names: async () => (await (await ask('GET', 'list?after=')).json()) as string[],
    log: () => server.lines(),
    async offset(page) {
      const { pathname } = new URL(await page.evaluate(unfinishedAddress))
      return Number((await ask('HEAD', pathname.slice(1))).headers.get('upload-offset'))
    },
    async setCustomers(renewed) {
      const earlier = server.lines().filter(({ msg }) => msg === 'customers reloaded').length
      await write(renewed)
      await server.logged('customers reloaded', earlier + 1)
      password = passwordOfAnna(renewed)
    },
    async restart() {
      await server.kill()
      server = await start()
    },
    async [Symbol.asyncDispose]() {
      await line[Symbol.asyncDispose]()
      await server.kill()
      await site.remove()
    },
  }
}

function unfinishedAddress(): string {
  const kept = localStorage.getItem('holdfast:unfinished:anna') ?? '[]'
  return (JSON.parse(kept) as { address: string }[])[0]?.address ?? ''
}

const passwordOfAnna = (customers: readonly Customer[]) =>
  customers.find(({ name }) => name === 'anna')?.password ?? ''

function yamlOf(customers: readonly Customer[]): string {
  const lines = customers.map(({ name, password, quota }) =>
    [
      `  - name: ${name}`,
      `password: ${cheapHash(password)}`,
      ...(quota ? [`quota: ${quota}`] : []),
    ].join('\n    '),
  )
  return `customers:\n${lines.join('\n')}\n`
}
