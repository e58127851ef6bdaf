import { makeCertificate } from '../make-certificate.ts'
import { createRunningMinio, type RunningMinio } from './running-minio.ts'
import { startNode, type ControlledContainer, type Node } from './start-node.ts'

/** A MinIO server of one's own, which may be stopped and broken. */
export interface OwnMinio extends RunningMinio, ControlledContainer {}

export interface StartMinioOptions {
  /** Serves HTTPS with a certificate for 127.0.0.1 and localhost, which is its own authority. Default: false. */
  readonly tls?: boolean
  /** Gives it a drive in memory of so many MiB, 8 or more, that `kill` empties. Default: the disk of the engine. */
  readonly driveMiB?: number | undefined
}

/**
 * Starts a MinIO server with one drive and resolves when it answers, after about a second. For tests that break it or
 * need it otherwise than all others; the rest share one by `describeWithMinio`. Whoever starts it stops it.
 */
export async function startMinio({
  tls = false,
  driveMiB,
}: StartMinioOptions = {}): Promise<OwnMinio> {
  const certificate = tls ? await makeCertificate() : undefined
  const node = await startNode({ command: ['/data'], certificate, driveMiB })
  return createOwnMinio(node, certificate?.certificate)
}

/** Gives a node what all servers have for tests. */
export function createOwnMinio(node: Node, certificate?: string): OwnMinio {
  const minio = createRunningMinio(node.endpoint, certificate)
  return {
    ...minio,
    ...node,
    stop: async () => {
      minio.client.destroy()
      await node.stop()
    },
  }
}
