import { randomUUID } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { SetupError, messageOf } from '@holdfast/core'
import writeFileAtomic from 'write-file-atomic'
import type { Loss, LossReason } from './event-of.ts'
import { positionAtEnd, type TrailPosition } from './read-trail.ts'

/** What is remembered of the events of a trail. */
export interface Cursor {
  /** Identifies the trail, as the `source` of its events. */
  readonly source: string
  /** All lines before this have been delivered, or count as lost. */
  readonly position: TrailPosition
  /** Changes without an event of their own that were not reported to the receiver yet. */
  readonly losses: Losses
}

export type Losses = Partial<Readonly<Record<LossReason, Loss>>>

const version = 1

/**
 * The cursor in `file` for the trail at `trail`. If there is none, a new one is made at the end of the trail, and survives a power cut.
 *
 * @throws SetupError if the file is none of this program's, or cannot be written
 */
export async function openCursor(file: string, trail: string): Promise<Cursor> {
  const known = await readCursor(file)
  if (known) return known
  const position = await positionAtEnd(trail)
  const fresh: Cursor = { source: `urn:uuid:${randomUUID()}`, position, losses: {} }
  try {
    await saveCursor(file, fresh)
    await syncDirectory(dirname(file))
  } catch (error) {
    const reason = messageOf(error)
    throw new SetupError(
      `The position of --webhook cannot be kept beside the audit trail (${reason})`,
      ['let the server write in the directory of --audit-log.'],
    )
  }
  return fresh
}

export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** The cursor in `file`; `undefined` if there is none. @throws SetupError if it cannot be read */
export async function readCursor(file: string): Promise<Cursor | undefined> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw unreadable(file, error)
  })
  if (text === undefined) return undefined
  try {
    return parseCursor(text)
  } catch (error) {
    throw unreadable(file, error)
  }
}

/** Replaces the cursor in one step, and durably. */
export async function saveCursor(file: string, cursor: Cursor): Promise<void> {
  await writeFileAtomic(file, `${JSON.stringify({ version, ...cursor })}\n`, {
    mode: 0o640,
  })
}

function parseCursor(text: string): Cursor {
  const value: unknown = JSON.parse(text)
  const { version: written, source, position, losses } = value as Record<string, unknown>
  if (written !== version) throw new Error(`version ${String(written)}`)
  const { files, since } = position as Record<string, unknown>
  if (typeof source !== 'string' || !Array.isArray(files) || typeof since !== 'string') {
    throw new Error('fields are missing')
  }
  return { source, position: position as TrailPosition, losses: losses as Losses }
}

function unreadable(file: string, error: unknown): SetupError {
  const reason = messageOf(error)
  return new SetupError(`The position of --webhook in ${file} cannot be read (${reason})`, [
    'remove the file to deliver from the present end of the trail on, and bring older events by holdfast events replay.',
  ])
}
