import type { RunningSubject, S3Bucket } from '../subjects/subject.ts'
import type { Client } from './client.ts'

/** rclone as it comes, by WebDAV. */
export function rcloneByWebDav(program: string, server: RunningSubject): Client {
  const remote = { TYPE: 'webdav', VENDOR: 'other', URL: `http://127.0.0.1:${server.port}` }
  return rclone(program, server, remote, '')
}

/** rclone as it comes, by S3. */
export function rcloneByS3(
  program: string,
  server: RunningSubject,
  { endpoint, bucket, accessKey, secretKey }: S3Bucket,
): Client {
  const keys = { ACCESS_KEY_ID: accessKey, SECRET_ACCESS_KEY: secretKey }
  const remote = { TYPE: 's3', PROVIDER: 'Minio', ENDPOINT: endpoint, ...keys }
  return rclone(program, server, remote, `${bucket}/`)
}

/** On the server each round has a folder of its own, since rclone compares folders. */
function rclone(
  command: string,
  server: RunningSubject,
  remote: Readonly<Record<string, string>>,
  root: string,
): Client {
  const variables = Object.entries(remote).map(
    ([key, value]) => [`RCLONE_CONFIG_BENCH_${key}`, value] as const,
  )
  const copy = (from: string, to: string) => ({
    command,
    args: ['--config', '/dev/null', 'copy', from, to],
    // With the authorities of the user's environment rclone does not start, and this is plain HTTP.
    environment: { ...Object.fromEntries(variables), AWS_CA_BUNDLE: '' },
  })
  return {
    name: `rclone (${server.name})`,
    server,
    most: 1000,
    put: ({ prefix }) => copy('.', `bench:${root}${prefix}`),
    get: ({ prefix }) => copy(`bench:${root}${prefix}`, '.'),
  }
}
