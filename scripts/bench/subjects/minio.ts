import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { createSigner, type Sign } from '../../../packages/store-minio/src/http/get-client.ts'
import type { BenchRequest, Dialect, Subject } from './subject.ts'

/**
 * MinIO itself in a container, as the tests have it. Clients sign their requests, as holdfast signs its own: a bucket without
 * credentials would be no alternative to holdfast. The signature is made ahead, once for many requests.
 */
export const minio: Subject = {
  name: 'minio',
  lookUp: async () => {
    try {
      const { ensureMinioImage, prepareEngine } =
        await import('../../../packages/testing/src/minio/engine.ts')
      return { version: await ensureMinioImage(await prepareEngine()) }
    } catch (error) {
      return { missing: error instanceof Error ? error.message : String(error) }
    }
  },
  start: async (directory) => {
    const { startMinio } = await import('../../../packages/testing/src/minio/index.ts')
    const server = await startMinio()
    const bucket = await server.createBucket()
    const { accessKey, secretKey, endpoint } = server
    const sign = createSigner({ region: 'us-east-1', accessKey, secretKey })
    return {
      ...dialectOf(bucket, new URL(endpoint).host, sign),
      name: 'minio',
      port: Number(new URL(endpoint).port),
      pid: await processOf(server.containerId),
      startMs: NaN,
      files: directory,
      createBucket: async () => ({
        ...{ endpoint, accessKey, secretKey },
        bucket: await server.createBucket(),
      }),
      stop: () => server.stop(),
    }
  },
}

const dialectOf = (bucket: string, host: string, sign: Sign): Dialect => {
  /** For a quarter of an hour. */
  const signed = (method: string, name: string): BenchRequest => {
    const path = `/${bucket}/${name}`
    const lines = sign(method, path, { host }).trimEnd().split('\r\n')
    const headers = lines.map((line) => line.split(/:(.*)/).slice(0, 2))
    const { host: _, ...rest } = Object.fromEntries(headers) as Record<string, string>
    return { method, path, headers: rest }
  }
  return { get: (name) => signed('GET', name), put: (name) => signed('PUT', name) }
}

async function processOf(container: string): Promise<number> {
  const args = ['inspect', '--format', '{{.State.Pid}}', container]
  return Number((await promisify(execFile)('docker', args)).stdout)
}
