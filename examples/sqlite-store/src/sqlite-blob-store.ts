import { DatabaseSync } from 'node:sqlite'
import { abortable, type BlobStore } from '@holdfast/core'
import { begin, discard, find, publish, remove, sweep, taken, write } from './blobs.ts'
import { openDatabase, transaction } from './database.ts'
import { openBlob } from './open-blob.ts'
import { inPieces } from './pieces.ts'

export interface SqliteBlobStore extends BlobStore {
  /** How many opened blobs are neither read to their end nor closed. */
  openBlobs(): number
  /** Ends every reader and closes the database. Uploads under way fail. */
  close(): void
}

/** A blob store in the SQLite database at `path`, which may grow to `maxBytes`. Default: 1 TiB. */
export function openSqliteBlobStore(path: string, maxBytes = 2 ** 40): SqliteBlobStore {
  const database = openDatabase(path, maxBytes)
  const readers = new Set<DatabaseSync>()
  sweep(database)

  return {
    async put(key, content, { createOnly = false, signal } = {}) {
      signal?.throwIfAborted()
      if (createOnly && find(database, key)) throw taken(key)
      const version = begin(database)
      try {
        let size = 0
        let position = 0
        for await (const piece of inPieces(abortable(content, signal))) {
          write(database, version, position++, piece)
          size += piece.length
        }
        signal?.throwIfAborted()
        return publish(database, key, { version, size, createOnly })
      } catch (error) {
        discard(database, version)
        throw error
      }
    },

    async open(key, { range: request } = {}) {
      const reader = new DatabaseSync(path, { readOnly: true, timeout: 5000 })
      const release = () => {
        if (readers.delete(reader)) reader.close()
      }
      readers.add(reader)
      try {
        const blob = openBlob(reader, key, request, release)
        if (!blob) release()
        return blob
      } catch (error) {
        release()
        throw error
      }
    },

    async stat(key) {
      return find(database, key)?.info
    },

    async delete(key) {
      return transaction(database, () => remove(database, key))
    },

    async *list(customer, { prefix = '', after = '', limit = Infinity } = {}) {
      const select = database.prepare(
        'SELECT name FROM blob WHERE customer = ? AND name > ? AND name >= ? ORDER BY name LIMIT 500',
      )
      let left = limit
      for (const name of pages(after, (last) => select.all(customer, last, prefix))) {
        // Names that begin alike are neighbours.
        if (left-- === 0 || !name.startsWith(prefix)) return
        yield name
      }
    },

    async usage(customer) {
      const select = 'SELECT count(*) AS blobs, total(size) AS bytes FROM blob WHERE customer = ?'
      const sums = database.prepare(select).get(customer)
      return { blobs: Number(sums?.blobs), bytes: Number(sums?.bytes) }
    },

    async *customers() {
      const select = database.prepare(
        'SELECT DISTINCT customer AS name FROM blob WHERE customer > ? ORDER BY customer LIMIT 500',
      )
      yield* pages('', (last) => select.all(last))
    },

    openBlobs: () => readers.size,

    close() {
      for (const reader of readers) reader.close()
      readers.clear()
      database.close()
    },
  }
}

/** All names after `after`, a page at a time: nothing stays locked while the reader takes its time. */
function* pages(after: string, select: (last: string) => Record<string, unknown>[]) {
  for (let last: string | undefined = after; last !== undefined;) {
    const page: string[] = select(last).map((row) => String(row.name))
    yield* page
    last = page.at(-1)
  }
}
