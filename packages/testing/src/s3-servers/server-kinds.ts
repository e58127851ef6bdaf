import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder } from '../package-folder.ts'
import type { S3ServerKind } from './known-failures.ts'

/** What a server is started with. */
export interface S3ServerStart {
  /** Where `scripts/test` keeps the programs. */
  readonly programs: string
  /** Of 127.0.0.1. */
  readonly port: number
  /** Empty; the server keeps everything below it. */
  readonly folder: string
  readonly accessKey: string
  readonly secretKey: string
}

const versions = join(packageFolder, 's3-server-versions')

/** The exact version of `kind` that `scripts/test` builds, without a `v`. */
export function s3ServerVersion(kind: S3ServerKind): string {
  return readFileSync(join(versions, kind), 'utf8').trim().replace(/^v/, '')
}

/** The command that runs a server in the foreground. */
export const s3ServerCommands: Record<
  S3ServerKind,
  (start: S3ServerStart) => readonly [program: string, ...args: string[]]
> = {
  versitygw: ({ programs, port, folder, accessKey, secretKey }) => [
    join(programs, `versitygw-v${s3ServerVersion('versitygw')}`, 'versitygw'),
    ...['--port', `127.0.0.1:${port}`, '--access', accessKey, '--secret', secretKey, '--quiet'],
    ...['posix', join(folder, 'data')],
  ],
  rclone: ({ programs, port, folder, accessKey, secretKey }) => [
    join(programs, `rclone-v${s3ServerVersion('rclone')}`, 'rclone'),
    ...['serve', 's3', '--addr', `127.0.0.1:${port}`, '--auth-key', `${accessKey},${secretKey}`],
    ...['--config', '/dev/null', '--cache-dir', join(folder, 'cache')],
    // Otherwise it takes names for one that differ in their Unicode normalisation only.
    '--no-unicode-normalization',
    join(folder, 'data'),
  ],
}
