import { createHash, randomUUID } from 'node:crypto'
import { closeSync, constants, existsSync, fstatSync, openSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Login } from '../profile.ts'

/** A path of this machine. */
export interface LocalPath {
  readonly directory: string
  readonly base: string
}

export function pathOf({ directory, base }: LocalPath): string {
  return join(directory, base)
}

/** Identifies the download that a partial file belongs to. */
export interface PartialIdentity {
  readonly login: Login
  /** On the server. */
  readonly name: string
  readonly target: LocalPath
}

/** The beginning of one version of a file. */
export interface PartialFile {
  readonly path: string
  readonly etag: string
  /** See {@link durableBytesOf}. */
  readonly durableBytes: number
}

/** Bytes between two syncs. The sync before the last one has always ended, so a crash loses at most twice as many. */
export const syncStep = 8 * 1024 ** 2

const beginning = '.holdfast-'
const ending = '.part'

/** A name has at most 255 bytes; all except the tag takes 34. */
const longestEtag = 160

/** The names of all partial files in a directory. */
export async function listPartials(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory)
  return names.filter(isPartial)
}

/** Whether a file of this name is a download that has not ended. */
export function isPartial(name: string): boolean {
  return name.startsWith(beginning) && name.endsWith(ending)
}

/** Whether a file of this name on the server may come from a path that {@link isPartial} leaves out here. */
export function comesFromPartial(name: string): boolean {
  return /(^| - )\.holdfast-.*\.part( - |$)/s.test(name)
}

/**
 * The partial file of an earlier command among `names`, if there is one. Its name contains the entity tag, so that content and version
 * cannot be mixed up. A digest stands for the names, which may be of full length.
 */
export function findPartial(
  identity: PartialIdentity,
  names: readonly string[],
): PartialFile | undefined {
  const prefix = prefixOf(identity)
  const name = names.find((each) => each.startsWith(prefix))
  if (name === undefined) return undefined
  const path = join(identity.target.directory, name)
  const etag = Buffer.from(name.slice(prefix.length, -ending.length), 'base64url').toString()
  const file = openOwn(path, constants.O_RDONLY)
  if (file === undefined) return undefined
  try {
    return { path, etag, durableBytes: durableBytesOf(fstatSync(file).size) }
  } finally {
    closeSync(file)
  }
}

/** How many of `size` written bytes are certain to be on the disk, even after the machine has crashed. */
export function durableBytesOf(size: number): number {
  return Math.max(0, (Math.floor((size - 1) / syncStep) - 1) * syncStep)
}

/** A partial file that is open, as a descriptor. */
export interface OpenPartial {
  readonly file: number
  readonly path: string
  /** Whether a later command would find it. */
  readonly isLasting: boolean
}

/**
 * Opens the partial file of a version to write it and to compare it. Several commands may do so at the same time: they write the same
 * bytes.
 */
export function openPartial(identity: PartialIdentity, etag: string): OpenPartial {
  const flags = constants.O_RDWR | constants.O_CREAT
  // The file that it will replace may be private.
  const mode = existsSync(pathOf(identity.target)) ? 0o600 : 0o666
  // A weak tag may stand for several contents (RFC 9110 §8.8.1).
  if (etag.startsWith('"') && Buffer.byteLength(etag) * 1.4 < longestEtag) {
    const name = `${prefixOf(identity)}${Buffer.from(etag).toString('base64url')}${ending}`
    const path = join(identity.target.directory, name)
    const file = openOwn(path, flags, mode)
    if (file !== undefined) return { file, path, isLasting: true }
  }
  const path = join(identity.target.directory, `${beginning}${randomUUID()}${ending}`)
  return { file: openSync(path, flags | constants.O_EXCL, mode), path, isLasting: false }
}

export async function removePartial(path: string): Promise<void> {
  await rm(path, { force: true })
}

/** Others may have put something into a directory that they can write to; opening a pipe must not wait for its other end. */
function openOwn(path: string, flags: number, mode?: number): number | undefined {
  let file: number
  try {
    file = openSync(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, mode)
  } catch (error) {
    if (error instanceof Error && 'code' in error && isNone(error.code)) return undefined
    throw error
  }
  const stats = fstatSync(file)
  const isOwn = stats.uid === (process.getuid?.() ?? stats.uid)
  if (isOwn && stats.isFile() && stats.nlink === 1) return file
  closeSync(file)
  return undefined
}

/** A symbolic link, which is not followed, or no file any more. */
const isNone = (code: unknown) => code === 'ELOOP' || code === 'ENOENT'

function prefixOf({ login, name, target }: PartialIdentity): string {
  const parts = JSON.stringify([login.url, login.name, name, target.base])
  return `${beginning}${createHash('sha256').update(parts).digest('hex').slice(0, 16)}-`
}
