import { DatabaseSync } from 'node:sqlite'
import { abortable, type BlobStore, type ListOptions } from '@holdfast/core'
import { begin, discard, find, infoOf, publish, remove, sweep, taken, write } from './blobs.ts'
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
  /** A query for each page: nothing stays locked while the reader takes its time. */
  function* pagesOf(
    customer: string,
    { prefix = '', after = '', limit = Infinity }: ListOptions = {},
  ) {
    const select = database.prepare(
      'SELECT * FROM blob WHERE customer = ? AND name > ? AND name >= ? ORDER BY name LIMIT ?',
    )
    let last = after
    for (let left = limit; left > 0;) {
      const rows = select.all(customer, last, prefix, Math.min(left, 500)).map(infoOf)
      // Names that begin alike are neighbours.
      const page = rows.filter(({ name }) => name.startsWith(prefix))
      if (page.length > 0) yield page
      if (page.length < 500) return
      left -= page.length
      last = page.at(-1)?.name ?? last
    }
  }

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

    async *list(customer, options) {
      for (const page of pagesOf(customer, options)) yield page.map(({ name }) => name)
    },

    async *listDetails(customer, options) {
      yield* pagesOf(customer, options)
    },

    async usage(customer) {
      const select = 'SELECT count(*) AS blobs, total(size) AS bytes FROM blob WHERE customer = ?'
      const sums = database.prepare(select).get(customer)
      return { blobs: Number(sums?.blobs), bytes: Number(sums?.bytes) }
    },

    async *customers() {
      const select = database.prepare(
        'SELECT DISTINCT customer FROM blob WHERE customer > ? ORDER BY customer LIMIT 500',
      )
      for (let last: string | undefined = ''; last !== undefined;) {
        const page: string[] = select.all(last).map((row) => String(row.customer))
        yield* page
        last = page.at(-1)
      }
    },

    openBlobs: () => readers.size,

    close() {
      for (const reader of readers) reader.close()
      readers.clear()
      database.close()
    },
  }
}
