import { constants, type Stats } from 'node:fs'
import { open, type FileHandle, realpath, stat } from 'node:fs/promises'
import { advice, type Advice } from '@holdfast/core'
import { describeDenial, programName } from '../messages/describe-denial.ts'
import { CustomersFileError } from './customers-file-error.ts'
import { dirname } from 'node:path'
import writeFileAtomic from 'write-file-atomic'

/** The content of a customers file, not parsed yet. */
export interface CustomersText {
  readonly text: string
  /** The permission bits; `undefined` where the operating system has no such thing. */
  readonly mode: number | undefined
}

const maxMebibytes = 16

// Without it, opening a named pipe would wait for a writer for ever; Windows knows neither.
const nonBlocking = process.platform === 'win32' ? 0 : constants.O_NONBLOCK

/**
 * Reads a customers file: an ordinary file in UTF-8, with or without a byte order mark, of at most 16 MiB.
 *
 * @throws CustomersFileError if it is missing, may not be read, or is no such file.
 */
export async function readCustomersText(path: string): Promise<CustomersText> {
  const { bytes, mode } = await readBytes(path)
  return {
    text: decode(bytes, path),
    mode: process.platform === 'win32' ? undefined : mode & 0o777,
  }
}

/** Whether `error` says that the customers file does not exist. */
export function isMissingFile(error: unknown): error is CustomersFileError {
  return (
    error instanceof CustomersFileError &&
    error.cause instanceof Error &&
    'code' in error.cause &&
    error.cause.code === 'ENOENT'
  )
}

async function readBytes(path: string): Promise<{ bytes: Buffer; mode: number }> {
  try {
    const file = await open(path, constants.O_RDONLY | nonBlocking)
    try {
      const { mode } = await checkKind(file, path)
      return { bytes: await file.readFile(), mode }
    } finally {
      await file.close()
    }
  } catch (error) {
    throw error instanceof CustomersFileError ? error : refusal(path, unreadable(error), error)
  }
}

const givePath = 'give the path of a YAML file'

async function checkKind(file: FileHandle, path: string): Promise<Stats> {
  const stats = await file.stat()
  if (stats.isDirectory()) throw refusal(path, advice('is a directory', givePath))
  if (!stats.isFile()) throw refusal(path, advice('is not an ordinary file', givePath))
  if (stats.size > maxMebibytes * 2 ** 20) {
    throw refusal(
      path,
      advice(`is larger than ${maxMebibytes} MiB`, 'is it really the customers file?'),
    )
  }
  return stats
}

function unreadable(error: unknown): Advice {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
  switch (code) {
    case 'ENOENT':
      return advice(
        'does not exist',
        `create it with "${programName()} customers add NAME", or give the right path`,
      )
    case 'EACCES':
    case 'EPERM':
      return advice(
        `may not be read by this user (${describeDenial(error) ?? code})`,
        'give it to the user that the service runs as, with chown',
      )
    default:
      return advice(`cannot be read (${code})`)
  }
}

function decode(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw refusal(path, advice('is not encoded in UTF-8', 'save it as UTF-8'))
  }
}

function refusal(path: string, said: Advice, cause?: unknown): CustomersFileError {
  return new CustomersFileError(path, [said], cause)
}

/**
 * Writes a customers file in one step and durably; links to it stay links. A new file has mode 0600. An existing one keeps its
 * owner and group, and what the group may do: the server may be of that group, and has to read the file after an edit, too.
 * Others may do nothing.
 *
 * @throws CustomersFileError when it cannot be written; the old file is then still there.
 */
export async function saveCustomersText(path: string, text: string): Promise<void> {
  try {
    const before = await stat(path).catch(() => undefined)
    await writeFileAtomic(path, text, { mode: ((before?.mode ?? 0) & 0o070) | 0o600 })
    await syncDirectory(dirname(await realpath(path)))
  } catch (error) {
    throw new CustomersFileError(path, [unwritable(error)], error)
  }
}

/** Without it, a power cut could restore the old file after the administrator has been given the new password. */
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** Why a customers file, or the lock beside it, could not be written. */
export function unwritable(error: unknown): Advice {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
  switch (code) {
    case 'ENOENT':
      return advice('cannot be created, since its directory does not exist', 'create that first')
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return advice(
        `cannot be written by this user (${describeDenial(error) ?? code})`,
        'it is replaced as a whole, so its directory has to be writable',
      )
    case 'ENOSPC':
      return advice('cannot be written, since the disk is full', 'nothing was changed')
    default:
      return advice(`cannot be written (${code})`)
  }
}
