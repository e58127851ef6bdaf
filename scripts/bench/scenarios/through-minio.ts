import { randomBytes } from 'node:crypto'
import { minioEnvironment } from '../../../packages/testing/src/minio/start-minio.ts'
import { download } from '../load/download.ts'
import { upload } from '../load/upload.ts'
import { bareGateway } from '../subjects/floors.ts'
import { minio } from '../subjects/minio.ts'
import type { RunningSubject } from '../subjects/subject.ts'
import { requestLane, transferLane } from './lanes.ts'
import type { Bench, Scenario } from './scenario.ts'

const size = 64 * 1024 ** 2

export const minio64Mib: Scenario = {
  name: 'minio-64mib',
  title: 'Files of 64 MiB through MinIO',
  how: 'One at a time, by PUT and GET, to holdfast with its files in a bucket, to MinIO itself, with requests that are signed, and to `bare gateway`, which is Node.js that signs requests and passes the bytes on.',
  compared: 'seconds',
  prepare: async (bench) => {
    const all = await startBoth(bench)
    return [
      ...all.flatMap((one) => {
        const { port, put } = one
        return put ? [transferLane(one, 'PUT', size, () => upload(port, put('large'), size))] : []
      }),
      ...all.map((one) =>
        transferLane(one, 'GET', size, async () => {
          const { bytes, seconds } = await download(one.port, one.get('large'))
          if (bytes !== size) throw new Error(`${one.name} sent ${bytes} bytes of ${size}`)
          return seconds
        }),
      ),
    ]
  },
}

export const minio4Kib: Scenario = {
  name: 'minio-4kib',
  title: 'GET of a file of 4 KiB through MinIO',
  how: 'One file, on 32 connections, from holdfast with its files in a bucket, from MinIO itself, with requests that are signed, and from `bare gateway`.',
  compared: 'perSecond',
  prepare: async (bench) => {
    const all = await startBoth(bench)
    const content = randomBytes(4096)
    for (const one of all) await putSmall(one, 'small', content)
    return all.map((one) =>
      requestLane(one, 'GET', () => ({ request: one.get('small'), seconds: bench.seconds })),
    )
  },
}

async function startBoth(bench: Bench): Promise<readonly RunningSubject[]> {
  const servers = await bench.start([minio])
  const place = await servers[0]?.createBucket?.()
  if (place === undefined) return []
  const environment = minioEnvironment(place, place.bucket)
  const gateways = await bench.start([bareGateway(place)])
  return [...(await bench.start(bench.holdfasts, { environment })), ...servers, ...gateways]
}

async function putSmall(one: RunningSubject, name: string, content: Buffer): Promise<void> {
  const { method = 'PUT', path = '', headers = {} } = one.put?.(name) ?? {}
  const url = `http://127.0.0.1:${one.port}${path}`
  const answer = await fetch(url, { method, headers, body: new Uint8Array(content) })
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`${one.name} answered ${answer.status}`)
}
