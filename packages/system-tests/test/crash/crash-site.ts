import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cheapHash, createSite, customersYaml, type Site } from '@holdfast/testing'
import { openDiskBlobStore } from '@holdfast/store-disk'

/** Contents by file name. */
export type Files = Readonly<Record<string, Buffer>>

/** The customer whose files are at stake. */
export const customer = 'demo'

/** Another one, who never stores anything. */
export const stranger = { 'x-auth-name': 'stranger', 'x-auth-password': 'battery staple' }

/** Bytes that the customer may keep. */
export const quota = 4 * 1024 ** 2

/** A site on whose data directory servers die. */
export interface CrashSite extends Site {
  readonly data: string
  /** Stores files through a store of this process. */
  readonly store: (files: Files) => Promise<void>
  /** Makes what processes leave that died in an upload, and in the trial of names at their start. */
  readonly leaveBehind: () => Promise<void>
  /** The names of the directories of open stores, and of dead ones. */
  readonly owners: () => Promise<readonly string[]>
  /** Those of them in which there is a file; a note of a rename is none. */
  readonly ownersOfFiles: () => Promise<readonly string[]>
  /** The directory of the customer's uploads in pieces, each of which has one below it. */
  readonly uploads: string
  /** The ids of these uploads. */
  readonly uploadIds: () => Promise<readonly string[]>
}

/** Makes a site with the customer, and without a data directory. */
export async function createCrashSite(): Promise<CrashSite> {
  const site = await createSite()
  await site.write(
    'customers.yaml',
    [
      customersYaml(customer, 'correct horse').trimEnd(),
      `    quota: ${quota}`,
      `  - name: ${stranger['x-auth-name']}`,
      `    password: ${cheapHash(stranger['x-auth-password'])}\n`,
    ].join('\n'),
  )
  const data = join(site.path, 'data')
  const uploads = join(data, 'uploads', customer)
  return {
    ...site,
    data,
    uploads,
    async uploadIds() {
      const entries = await readdir(uploads).catch(() => [])
      // A note of a create-only publication stays until the upload is published, or swept.
      return entries.filter((entry) => !entry.endsWith('.linked'))
    },
    store: (files) => storeFiles(data, files),
    leaveBehind: () => leaveBehind(data),
    owners: () => ownersIn(data),
    ownersOfFiles: async () => {
      const owners = (await ownersIn(data)).map(async (name) => {
        const entries = await readdir(join(data, 'tmp', name))
        return entries.some((entry) => !entry.endsWith('.rename')) ? [name] : []
      })
      return (await Promise.all(owners)).flat()
    },
  }
}

async function ownersIn(data: string): Promise<readonly string[]> {
  const names = await readdir(join(data, 'tmp')).catch(() => [])
  // That is there where replaced files move in their directory.
  return names.filter((name) => name !== 'walks')
}

async function storeFiles(data: string, files: Files): Promise<void> {
  const store = await openDiskBlobStore({ directory: data })
  for (const [name, content] of Object.entries(files)) {
    await store.put({ customer, name }, chunks(content))
  }
  await store.close()
}

async function* chunks(content: Buffer) {
  yield content
}

async function leaveBehind(data: string): Promise<void> {
  const store = await openDiskBlobStore({ directory: data })
  const [alive = ''] = await readdir(join(data, 'tmp'))
  await store.close()
  const [pid, startTime, ...rest] = alive.split('-')
  // Processes that had this one's pid before it.
  const dead = (age: number) => join(data, 'tmp', [pid, Number(startTime) - age, ...rest].join('-'))
  await mkdir(dead(1))
  await writeFile(join(dead(1), '0'), 'half of a file')
  await mkdir(join(dead(2), 'names', 'a'), { recursive: true })
}
