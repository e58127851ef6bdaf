import { credentials, until } from '@holdfast/testing'
import { expect } from 'chai'
import type { StartServer, TusClient, UploadJob, UploadOutcome } from '../tus-client.ts'
import { filesOf } from './files-of.ts'
import { openWorkplace } from './open-workplace.ts'

const mebibyte = 1024 * 1024

/** Uploads that clients have begun on a server that keeps them for a short time. */
export interface ExpiringUploads {
  /** Has a client go on once its upload has expired. */
  goOn(client: TusClient): Promise<{ outcome: UploadOutcome; hasFile: boolean }>
  close(): Promise<void>
}

/** Begins an upload by each client, which stops after a third of it. */
export async function beginExpiringUploads(
  start: StartServer,
  clients: readonly TusClient[],
): Promise<ExpiringUploads> {
  const server = await start(['--upload-expiry', '15s'])
  const workplace = await openWorkplace(server.url, 3 * mebibyte)
  const { list, isThere } = filesOf(() => server.url)
  const begun = new Map<TusClient, UploadJob>()
  for (const client of clients) {
    const endpoint = `${workplace.line.url}/resumable`
    const job = { endpoint, headers: credentials, name: client.title }
    const interruption = { at: mebibyte, kind: 'stop' } as const
    const first = await client.run({ ...job, pieceSize: mebibyte, interruption }, workplace)
    expect(first.ending, first.message).to.equal('stopped')
    begun.set(client, { ...job, url: first.url })
  }
  return {
    async goOn(client) {
      const job = begun.get(client)
      if (!job) throw new Error(`${client.title} has begun no upload`)
      await until('the upload has expired', async () => !(await isThere(job.url ?? '')), 120_000)
      const outcome = await client.run(job, workplace)
      return { outcome, hasFile: (await list()).includes(client.title) }
    },
    async close() {
      await workplace.close()
      await server.kill()
    },
  }
}
