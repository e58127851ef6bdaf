import { createClient, type Client } from '@holdfast/client'
import {
  createSite,
  runHoldfast,
  startHoldfast,
  type HoldfastOptions,
  type HoldfastServer,
  type Outcome,
  type Site,
} from '@holdfast/testing'

/** A server that runs for all tests of a suite. */
export interface SuiteServer {
  readonly client: Client
  readonly url: string
  /** What logs a command in. */
  readonly env: Readonly<Record<string, string>>
  /** A directory of the suite, in which commands run. */
  readonly path: string
  holdfast(args: readonly string[], options?: Partial<HoldfastOptions>): Promise<Outcome>
  /** Deletes all files. */
  empty(): Promise<void>
}

/** Starts `holdfast serve` before the tests of the suite, and kills it after them. */
export function useServer(args: readonly string[] = []): SuiteServer {
  let site: Site | undefined
  let server: HoldfastServer | undefined
  before(async () => {
    site = await createSite()
    server = await startHoldfast(args, { cwd: site.path })
  })
  after(async () => {
    await server?.kill()
    await site?.remove()
  })

  const url = () => server?.url ?? ''
  const client = () => createClient({ url: url(), name: 'demo', password: 'correct horse' })
  const env = () => ({
    HOME: site?.path ?? '',
    HOLDFAST_URL: url(),
    HOLDFAST_NAME: 'demo',
    HOLDFAST_PASSWORD: 'correct horse',
    TZ: 'UTC',
  })
  return {
    get client() {
      return client()
    },
    get url() {
      return url()
    },
    get env() {
      return env()
    },
    get path() {
      return site?.path ?? ''
    },
    holdfast: (words, options = {}) =>
      runHoldfast(words, { cwd: site?.path ?? '', ...options, env: { ...env(), ...options.env } }),
    async empty() {
      const owner = client()
      const names: string[] = []
      for await (const name of owner.list()) names.push(name)
      await Promise.all(names.map((name) => owner.delete(name)))
    },
  }
}
