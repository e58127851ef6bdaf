import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cheapHash } from './cheap-hash.ts'
import { entriesBelow } from './entries-below.ts'

/** A directory for one test, in which commands run: with `customers.yaml`, and with `data` once a server has run. */
export interface Site {
  readonly path: string
  /** Writes a file into the directory, readable by its owner only. */
  write(name: string, text: string): Promise<string>
  /** The names of what is left of uploads under way. */
  litter(): Promise<readonly string[]>
  remove(): Promise<void>
}

/** What requests of the one customer of every new site carry. */
export const credentials = { 'x-auth-name': 'demo', 'x-auth-password': 'correct horse' }

/** Makes a site with the customer `demo`. */
export async function createSite(): Promise<Site> {
  const path = await mkdtemp(join(tmpdir(), 'holdfast-server-'))
  // Tests that run as root start servers as another user.
  await chmod(path, 0o755)
  const write = async (name: string, text: string) => {
    await writeFile(join(path, name), text, { mode: 0o600 })
    return join(path, name)
  }
  await write('customers.yaml', customersYaml('demo', 'correct horse'))
  return {
    path,
    write,
    litter: async () => {
      const entries = await entriesBelow(join(path, 'data/tmp'))
      return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
    },
    remove: () => rm(path, { recursive: true, force: true }),
  }
}

/** A customers file with one customer, whose password has a cheap hash. */
export function customersYaml(name: string, password: string): string {
  return `customers:\n  - name: ${name}\n    password: ${cheapHash(password)}\n`
}
