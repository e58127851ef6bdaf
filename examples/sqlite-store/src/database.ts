import { DatabaseSync } from 'node:sqlite'
import { FileServiceError } from '@holdfast/core'

/** Opens the database at `path`, which may become `maxBytes` large, and makes its tables if it has none. */
export function openDatabase(path: string, maxBytes: number): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: 5000 })
  database.exec(`
    PRAGMA journal_mode = WAL; -- readers see the database as it was when they began
    PRAGMA synchronous = FULL; -- a transaction that is committed survives a power cut
    PRAGMA max_page_count = ${Math.floor(maxBytes / 4096)};
    CREATE TABLE IF NOT EXISTS upload (
      version INTEGER PRIMARY KEY AUTOINCREMENT, touched_at INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS piece (
      version INTEGER, position INTEGER, bytes BLOB, PRIMARY KEY (version, position));
    CREATE TABLE IF NOT EXISTS blob (
      customer TEXT, name TEXT, version INTEGER, size INTEGER, modified_at INTEGER,
      PRIMARY KEY (customer, name)) WITHOUT ROWID;`)
  return database
}

/** Does all of `body` or nothing. Conditions that the port has a code for become that error. */
export function transaction<Result>(database: DatabaseSync, body: () => Result): Result {
  try {
    database.exec('BEGIN IMMEDIATE')
    const result = body()
    database.exec('COMMIT')
    return result
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw translated(error)
  }
}

function translated(error: unknown): unknown {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined
  if (code === 13)
    return new FileServiceError('insufficient-storage', 'The database is full', { cause: error })
  if (code === 5)
    return new FileServiceError('store-unavailable', 'The database is locked', { cause: error })
  return error
}
