import { createHash, scryptSync } from 'node:crypto'
import { createReadStream, type Dirent } from 'node:fs'
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'

/** The working directory of one test's commands: it has `customers.yaml`, and `data` once a server has run. */
export interface Site {
  readonly path: string
  /** Writes a file into the directory, readable by its owner only. */
  write(name: string, text: string): Promise<string>
  /** The names of left-over data of uploads. */
  litter(): Promise<readonly string[]>
  remove(): Promise<void>
}

/** The headers with the credentials of the one customer of every new site. */
export const credentials = { 'x-auth-name': 'demo', 'x-auth-password': 'correct horse' }

/** Makes a site with the customer `demo`. */
export async function createSite(): Promise<Site> {
  const path = await mkdtemp(join(tmpdir(), 'holdfast-server-'))
  // Tests that run as root start servers as another user, who must be able to read the directory.
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

export interface TemporaryDirectory {
  readonly path: string
  remove(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Makes a new directory in `parent`. `remove` removes it, or the end of the scope that declares it with `await using`. Default parent: the
 * system's directory of temporary files.
 */
export async function makeTemporaryDirectory(parent = tmpdir()): Promise<TemporaryDirectory> {
  const path = await mkdtemp(join(parent, 'holdfast-test-'))
  const remove = () => rm(path, { recursive: true, force: true })
  return { path, remove, [Symbol.asyncDispose]: remove }
}

/** The cost of a scrypt hash that is so cheap that tests may make any number. */
export const cheapCost = { ln: 4, r: 8, p: 1 } as const

/**
 * A hash of {@link cheapCost} for a customers file, always the same. For a password in plain text, as for a hash of the standard cost, a
 * server takes 0.1 s of processor time.
 */
export function cheapHash(password: string): string {
  const { ln, r, p } = cheapCost
  const salt = 'salt of tests'
  const hash = scryptSync(password, salt, 32, { N: 2 ** ln, r, p })
  const [encodedSalt, encodedHash] = [Buffer.from(salt), hash].map((bytes) =>
    bytes.toString('base64').replaceAll('=', ''),
  )
  return `$scrypt$ln=${ln},r=${r},p=${p}$${encodedSalt}$${encodedHash}`
}

/** The regular files below a directory, each with the SHA-256 of its content. */
export async function treeOf(directory: string): Promise<ReadonlyMap<string, string>> {
  const entries = await entriesBelow(directory)
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  const tree = new Map<string, string>()
  for (const path of paths) {
    const hash = createHash('sha256')
    for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
    tree.set(relative(directory, path), hash.digest('hex'))
  }
  return tree
}

/** All entries below a directory; a server may remove some meanwhile. */
export async function entriesBelow(directory: string): Promise<Dirent[]> {
  for (;;) {
    try {
      return await readdir(directory, { recursive: true, withFileTypes: true })
    } catch (error) {
      const isGone = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (!isGone || !('path' in error) || error.path === directory) throw error
    }
  }
}
