import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createClient, type Client, type ClientOptions } from '@holdfast/client'
import {
  credentials,
  runHoldfast,
  useHoldfast,
  type HoldfastOptions,
  type HoldfastServer,
  type Outcome,
} from '@holdfast/testing'
import { pullDirectory, type PullSummary } from '../../../../src/remote/sync/pull-directory.ts'
import { syncDirectory } from '../../../../src/remote/sync/sync-directory.ts'
import type { SyncPlan, SyncSummary } from '../../../../src/remote/sync/sync-plan.ts'
import { selectPaths } from '../../../../src/remote/selection.ts'
import { openSyncState } from '../../../../src/remote/sync/sync-state.ts'

/** A directory, and a server to send it to. */
export interface SyncSite {
  readonly path: string
  readonly server: HoldfastServer
  /** The directory. */
  readonly directory: string
  readonly environment: Readonly<Record<string, string>>
  client(options?: Partial<ClientOptions>): Client
  write(path: string, content: string | Uint8Array): Promise<void>
  remove(path: string): Promise<void>
  /** Names and contents of what is on the server. */
  stored(): Promise<Readonly<Record<string, string>>>
  names(): Promise<readonly string[]>
  /** Runs `holdfast sync DIR …`. */
  run(args?: readonly string[], options?: Partial<HoldfastOptions>): Promise<Outcome>
  /** The same in this process. Resolves with what it said, too. */
  sync(plan?: Partial<SyncPlan>): Promise<SyncSummary & Said>
  /** `holdfast pull` in this process. */
  pull(plan?: Partial<SyncPlan>): Promise<PullSummary & Said>
}

interface Said {
  readonly said: readonly string[]
}

/** What a plan has if no flag says otherwise. */
export const usualPlan: Omit<SyncPlan, 'client' | 'directory' | 'state' | 'events'> = {
  into: '',
  isDryRun: false,
  isChecksum: false,
  mostDeletions: undefined,
  selection: selectPaths({}),
  concurrency: 4,
  signal: new AbortController().signal,
}

/** A server and an empty directory for each test of the suite. */
export function useSyncSite(): SyncSite {
  const holdfast = useHoldfast()
  let server: HoldfastServer
  beforeEach(async () => {
    server = await holdfast.start()
    await mkdir(site.directory)
  })
  const login = { name: credentials['x-auth-name'], password: credentials['x-auth-password'] }
  async function perform<Summary>(
    plan: Partial<SyncPlan> = {},
    run: (plan: SyncPlan) => Promise<Summary>,
  ): Promise<Summary & Said> {
    const said: string[] = []
    const state = await openSyncState(join(site.path, 'state'))
    const whole: SyncPlan = {
      client: site.client(),
      directory: site.directory,
      ...usualPlan,
      state,
      events: {
        did: async (action) => void said.push(`${action.action} ${action.name}`),
        failed: async (path, error) => void said.push(`${path}: ${String(error)}`),
        note: (text) => void said.push(text),
        progress: () => {},
      },
      ...plan,
    }
    try {
      return { ...(await run(whole)), said }
    } catch (error) {
      await state.close('add')
      throw error
    }
  }
  const site: SyncSite = {
    get path() {
      return holdfast.site.path
    },
    get server() {
      return server
    },
    get directory() {
      return join(holdfast.site.path, 'directory')
    },
    get environment() {
      return {
        HOME: holdfast.site.path,
        HOLDFAST_URL: server.url,
        HOLDFAST_NAME: login.name,
        HOLDFAST_PASSWORD: login.password,
      }
    },
    client: (options = {}) => createClient({ url: server.url, ...login, ...options }),
    async write(path, content) {
      await mkdir(dirname(join(site.directory, path)), { recursive: true })
      await writeFile(join(site.directory, path), content)
    },
    remove: (path) => rm(join(site.directory, path), { recursive: true }),
    async stored() {
      const client = site.client()
      const found: Record<string, string> = Object.create(null) as Record<string, string>
      for (const name of await site.names())
        found[name] = await (await client.download(name)).text()
      return found
    },
    async names() {
      const names: string[] = []
      for await (const name of site.client().list()) names.push(name)
      return names
    },
    run: (args = [], options = {}) =>
      runHoldfast(['sync', 'directory', ...args], {
        cwd: site.path,
        env: site.environment,
        ...options,
      }),
    sync: (plan) => perform(plan, syncDirectory),
    pull: (plan) =>
      perform(plan, (whole) => pullDirectory({ ...whole, login: { url: server.url, ...login } })),
  }
  return site
}
