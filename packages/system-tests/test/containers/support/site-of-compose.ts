import { readFileSync } from 'node:fs'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '@holdfast/testing'
import { minioImage, ownershipLabels } from '@holdfast/testing/minio'
import { stringify } from 'yaml'
import { ownName } from './product-image.ts'

const root = fileURLToPath(new URL('../../../../../', import.meta.url))

/** A directory in which the commands of `compose.yaml` run, on images that are there, and on free ports. */
export interface ComposeSite {
  readonly path: string
  /** Where clients come in, on 127.0.0.1. */
  readonly port: number
  /** Where clients of the profile `cluster` come in. */
  readonly clusterPort: number
  /** Where Prometheus finds holdfast, with what docs/containers.md says of monitoring. */
  readonly metrics: string
  remove(): Promise<void>
}

/** Makes a site for a server from `image`. */
export async function createComposeSite(image: string): Promise<ComposeSite> {
  const path = await mkdtemp(join(tmpdir(), 'holdfast-compose-'))
  for (const part of ['compose.yaml', 'Dockerfile', 'docs', 'packages']) {
    await symlink(join(root, part), join(path, part))
  }
  const [port, clusterPort] = [await findFreePort(), await findFreePort()]
  const adminPort = await findFreePort()
  const metrics = `127.0.0.1:${adminPort}`
  const settings = {
    COMPOSE_PROJECT_NAME: ownName(),
    COMPOSE_FILE: 'compose.yaml:compose.override.yaml:owner.yaml',
    HTTPS_PORT: `127.0.0.1:${port}`,
    CLUSTER_PORT: `127.0.0.1:${clusterPort}`,
    HOLDFAST_IMAGE: image,
    MINIO_IMAGE: await minioImage(),
    MC_IMAGE: process.env['HOLDFAST_MC_IMAGE'] || 'holdfast/local-mc',
    NGINX_IMAGE: process.env['HOLDFAST_NGINX_IMAGE'] || 'holdfast/local-nginx',
    HAPROXY_IMAGE: process.env['HOLDFAST_HAPROXY_IMAGE'] || 'holdfast/local-haproxy',
    VALKEY_IMAGE: process.env['HOLDFAST_VALKEY_IMAGE'] || 'holdfast/local-valkey',
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
  await writeFile(join(path, '.env'), lines.join(''))
  await writeFile(join(path, 'owner.yaml'), stringify(owned))
  await writeFile(
    join(path, 'compose.override.yaml'),
    monitoring().replace('127.0.0.1:3001:', `${metrics}:`),
  )
  return { path, port, clusterPort, metrics, remove: () => rm(path, { recursive: true }) }
}

function monitoring(): string {
  const [, block = ''] =
    /^ *```yaml\n([^]*?)^ *```$/m.exec(readFileSync(join(root, 'docs/containers.md'), 'utf8')) ?? []
  return block.replaceAll(/^ {2}/gm, '')
}

const labels = { labels: ownershipLabels }

/** Whose all of it is, so that the next run finds what this one leaves when it is killed. */
const owned = {
  services: {
    nginx: labels,
    holdfast: labels,
    minio: labels,
    'minio-setup': labels,
    haproxy: labels,
    'holdfast-1': labels,
    'holdfast-2': labels,
    valkey: labels,
  },
  networks: { clients: labels, files: labels, shared: labels },
  volumes: { customers: labels, files: labels, shared: labels },
}
