import { createHash } from 'node:crypto'
import { mkdtemp, mkdir, open, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDiskBlobStore } from '@holdfast/store-disk'
import { minioKeys, type RunningMinio } from '@holdfast/testing/minio'

/** A disk store to move out of, and a directory to move into beside it. */
export interface House {
  readonly path: string
  readonly source: string
  readonly target: string
  /** What was written, as `customer/name` with its SHA-256. */
  readonly written: ReadonlyMap<string, string>
  /** Writes a file of the source by hand, as if it had been uploaded an hour ago. */
  write(customer: string, name: string, chunks: Iterable<Uint8Array>): Promise<void>
  remove(): Promise<void>
}

/** Makes a house with an empty source. */
export async function createHouse(): Promise<House> {
  const path = await mkdtemp(join(tmpdir(), 'holdfast-copy-'))
  const source = join(path, 'source')
  await (await openDiskBlobStore({ directory: source })).close()
  const written = new Map<string, string>()
  const anHourAgo = Date.now() / 1000 - 3600
  return {
    path,
    source,
    target: join(path, 'target'),
    written,
    async write(customer, name, chunks) {
      const file = join(source, 'files', customer, name)
      await mkdir(join(source, 'files', customer), { recursive: true })
      const handle = await open(file, 'w')
      const hash = createHash('sha256')
      for (const chunk of chunks) {
        hash.update(chunk)
        await handle.write(chunk)
      }
      written.set(`${customer}/${name}`, hash.digest('hex'))
      await handle.close()
      await utimes(file, anHourAgo, anHourAgo)
    },
    remove: () => rm(path, { recursive: true, force: true }),
  }
}

/** Flags and environment of a copy for which MinIO is the other store. */
export function minioSettings(
  minio: RunningMinio,
  bucket: string,
): { readonly flags: readonly string[]; readonly env: Readonly<Record<string, string>> } {
  return {
    flags: ['--minio-endpoint', minio.endpoint, '--minio-bucket', bucket],
    env: minioKeys(minio),
  }
}
