import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createSite, startHoldfast } from '@holdfast/testing'
import type { OpenSoakSite } from './soak-site.ts'

/** Real servers, as processes of their own, on a directory. */
export const openDiskSite: OpenSoakSite = async (customers) => {
  const site = await createSite()
  // YAML takes JSON as it is.
  await site.write('customers.yaml', JSON.stringify({ customers }))
  const data = join(site.path, 'data')

  return {
    async start() {
      const server = await startHoldfast(['--shutdown-grace', '20s'], { cwd: site.path })
      return {
        url: server.url,
        kill: () => server.kill(),
        stop() {
          server.signal('SIGTERM')
          return server.ended
        },
        async suspend(ms) {
          server.signal('SIGSTOP')
          await delay(ms)
          server.signal('SIGCONT')
        },
        // Its last words, where it has ended by itself.
        ended: server.ended.then((code) => `${code}: ${server.output().slice(-3000)}`),
      }
    },

    async problems(bytes, live) {
      const entries = (await readdir(data)).sort().join(', ')
      const owners = await readdir(join(data, 'tmp'))
      const litter = await site.litter()
      const found = await Promise.all(
        [...bytes].map(async ([customer, expected]) => {
          const kept = await bytesBelow(join(data, 'files', customer))
          return kept === expected ? [] : [`${customer} keeps ${kept} bytes instead of ${expected}`]
        }),
      )
      return [
        ...(entries === 'files, holdfast.json, tmp' ? [] : [`the data directory has ${entries}`]),
        ...(live === undefined || owners.length === live
          ? []
          : [`tmp/ has ${owners.length} owners, of which ${live} live`]),
        ...(live === undefined ? [] : litter.map((file) => `${file} is left below tmp/`)),
        ...found.flat(),
      ]
    },

    remove: () => site.remove(),
  }
}

async function bytesBelow(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
