import { Writable } from 'node:stream'
import pino from 'pino'
import { resolveConfig } from '../../../server/src/config/resolve-config.ts'
import { startServer } from '../../../server/src/serve/start-server.ts'
import type { CrashSite } from './crash-site.ts'

/** A server that outlives the test, in this process, which starts it ten times as fast as one of its own. */
export interface SurvivingServer {
  readonly url: string
  /** What the store has warned of so far. */
  readonly warnings: () => readonly string[]
  /** As SIGTERM does it, and with `cut` as a second one at once. May be called again. */
  readonly stop: (cut?: AbortSignal) => Promise<void>
}

/** Starts a server on the site's data directory, with `settings` beside those of every site. */
export async function startSurvivor(
  { path, data }: CrashSite,
  settings: Readonly<Record<string, string>> = {},
): Promise<SurvivingServer> {
  const lines: { readonly level: number; readonly msg: string }[] = []
  const log = pino(
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        lines.push(JSON.parse(chunk.toString()) as (typeof lines)[number])
        done()
      },
    }),
  )
  const flags = { port: '0', data, customers: `${path}/customers.yaml`, ...settings }
  const server = await startServer(resolveConfig({ flags }), log)
  let stopping: Promise<unknown> | undefined
  return {
    url: server.url,
    warnings: () =>
      lines
        // The hash is cheap for the sake of speed.
        .filter(({ level, msg }) => level >= 40 && !msg.includes('has another cost'))
        .map(({ msg }) => msg),
    stop: async (cut) => {
      stopping ??= server.close(cut)
      await stopping
    },
  }
}
