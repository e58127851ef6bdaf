import { finding } from '@holdfast/core'
import { escapeUri } from '../http/create-signer.ts'
import type { BucketStep } from './bucket-step.ts'

/** Milliseconds for an answer. */
const patience = 10_000

/** Checks whether anonymous requests may read, list or write the bucket at `endpoint`. */
export function createStrangersStep(endpoint: string): BucketStep {
  return {
    check: 'strangers',
    right: 'none',
    needs: ['uploading'],
    async run({ bucket, key }) {
      const url = `${endpoint}/${bucket}`
      const path = `${url}/${key.split('/').map(escapeUri).join('/')}`
      const may = {
        read: await succeeds(path, {}),
        list: await succeeds(`${url}?list-type=2&max-keys=1`, {}),
        write: await succeeds(path, { method: 'PUT', body: 'holdfast' }),
      }
      const open = Object.entries(may).flatMap(([what, isAllowed]) => (isAllowed ? [what] : []))
      if (open.length === 0) return finding('ok', this.check, 'may neither read, list nor write')
      const message = `everyone who reaches the server may ${open.join(' and ')} files of customers, without a key`
      return finding('problem', this.check, message, `mc anonymous set none minio/${bucket}`)
    },
  }
}

async function succeeds(url: string, request: RequestInit): Promise<boolean> {
  const signal = AbortSignal.timeout(patience)
  const response = await fetch(url, { ...request, redirect: 'manual', signal })
  await response.body?.cancel()
  return response.ok
}
