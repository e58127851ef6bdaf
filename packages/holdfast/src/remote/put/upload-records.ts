import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { userDirectory } from '../../settings/user-directory.ts'
import type { Login } from '../login/profile.ts'

/** What an upload is of. Another version of the file is another upload, so that no mixture of two is stored. */
export interface UploadIdentity {
  readonly login: Login
  readonly name: string
  readonly isCreateOnly: boolean
  readonly version: FileVersion
}

/** What differs when a file is another one, or was written to. */
export interface FileVersion {
  readonly dev: bigint
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

/** Remembers where an upload is on the server, for the next command. */
export interface UploadRecord {
  /** Where it was, if it was begun. */
  read(): Promise<string | undefined>
  keep(uploadUrl: string): Promise<void>
  forget(): Promise<void>
}

/** By then no server has the upload any more. */
const expiryMs = 30 * 24 * 60 * 60 * 1000

/** Where records are kept. */
export function recordsDirectory(environment: NodeJS.ProcessEnv): string {
  return join(userDirectory('XDG_STATE_HOME', environment), 'uploads')
}

/** The record of one upload in `directory`. */
export function uploadRecord(directory: string, identity: UploadIdentity): UploadRecord {
  const path = join(directory, `${keyOf(identity)}.json`)
  return {
    async read() {
      try {
        const { url } = JSON.parse(await readFile(path, 'utf8')) as { url?: unknown }
        // The password goes there.
        return typeof url === 'string' && isOf(url, identity.login.url) ? url : undefined
      } catch {
        // Without it the upload begins anew.
        return undefined
      }
    },
    async keep(url) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      await removeExpired(directory)
      await writeFileAtomic(path, `${JSON.stringify({ url, name: identity.name })}\n`, {
        mode: 0o600,
      })
    },
    forget: () => rm(path, { force: true }),
  }
}

function keyOf({ login, name, isCreateOnly, version }: UploadIdentity): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = version
  const file = [dev, ino, size, mtimeNs, ctimeNs].map(String)
  const parts = [login.url, login.name, name, isCreateOnly, ...file]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

function isOf(url: string, server: string): boolean {
  return URL.parse(url)?.origin === new URL(server).origin
}

async function removeExpired(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs > expiryMs) await rm(path, { force: true })
  }
}
