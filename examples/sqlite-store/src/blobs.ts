import type { DatabaseSync } from 'node:sqlite'
import { FileServiceError, type BlobInfo, type BlobKey } from '@holdfast/core'
import { transaction } from './database.ts'

const dayMs = 24 * 60 * 60 * 1000

/** A blob as it is recorded; `undefined` if there is none. */
export function find(
  database: DatabaseSync,
  { customer, name }: BlobKey,
): { info: BlobInfo; version: number } | undefined {
  const select = database.prepare('SELECT * FROM blob WHERE customer = ? AND name = ?')
  const row = select.get(customer, name)
  return row && { version: Number(row.version), info: infoOf(row) }
}

/** The description of the blob in a row of `blob`. */
export function infoOf(row: Record<string, unknown>): BlobInfo {
  const { name, size, modified_at: modifiedAt, version } = row
  return {
    name: String(name),
    size: Number(size),
    modifiedAt: new Date(Number(modifiedAt)),
    etag: String(version),
  }
}

/** Begins an upload, under a version that no other blob ever has. */
export function begin(database: DatabaseSync): number {
  return transaction(database, () => {
    const insert = database.prepare('INSERT INTO upload (touched_at) VALUES (?)')
    return Number(insert.run(Date.now()).lastInsertRowid)
  })
}

/** Keeps one piece of an upload. */
export function write(
  database: DatabaseSync,
  version: number,
  position: number,
  piece: Uint8Array,
) {
  transaction(database, () => {
    database.prepare('INSERT INTO piece VALUES (?, ?, ?)').run(version, position, piece)
    const touch = database.prepare('UPDATE upload SET touched_at = ? WHERE version = ?')
    touch.run(Date.now(), version)
  })
}

/** Makes a blob of an upload, in place of any earlier one, or throws and changes nothing. */
export function publish(
  database: DatabaseSync,
  key: BlobKey,
  upload: { version: number; size: number; createOnly: boolean },
): BlobInfo {
  const { version, size, createOnly } = upload
  const modifiedAt = new Date()
  transaction(database, () => {
    // The last look decides: others may have published since the first.
    if (remove(database, key) && createOnly) throw taken(key)
    const { changes } = database.prepare('DELETE FROM upload WHERE version = ?').run(version)
    if (changes !== 1) throw new Error('The upload took longer than a day and was swept')
    const insert = database.prepare('INSERT INTO blob VALUES (?, ?, ?, ?, ?)')
    insert.run(key.customer, key.name, version, size, modifiedAt.getTime())
  })
  return { name: key.name, size, modifiedAt, etag: `${version}` }
}

/** Removes an upload that is not published. */
export function discard(database: DatabaseSync, version: number): void {
  try {
    transaction(database, () => {
      const { changes } = database.prepare('DELETE FROM upload WHERE version = ?').run(version)
      if (changes === 1) database.prepare('DELETE FROM piece WHERE version = ?').run(version)
    })
  } catch {
    // The caller has to learn why the upload failed, not this. The next sweep tries again.
  }
}

/** Removes a blob and its pieces; whether there was one. To be called in a transaction. */
export function remove(database: DatabaseSync, { customer, name }: BlobKey): boolean {
  const row = database
    .prepare('DELETE FROM blob WHERE customer = ? AND name = ? RETURNING version')
    .get(customer, name)
  if (!row) return false
  database.prepare('DELETE FROM piece WHERE version = ?').run(Number(row.version))
  return true
}

/** Removes what crashes left behind. Uploads under way, other servers' too, were touched a short while ago. */
export function sweep(database: DatabaseSync): void {
  const before = Date.now() - dayMs
  const old = 'SELECT version FROM upload WHERE touched_at < ?'
  transaction(database, () => {
    database.prepare(`DELETE FROM piece WHERE version IN (${old})`).run(before)
    database.prepare('DELETE FROM upload WHERE touched_at < ?').run(before)
  })
}

/** The refusal of a create-only put. */
export function taken({ name }: BlobKey): FileServiceError {
  return new FileServiceError('already-exists', `There is a file ${JSON.stringify(name)} already`)
}
