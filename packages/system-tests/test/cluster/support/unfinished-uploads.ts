import { ListMultipartUploadsCommand, ListPartsCommand } from '@aws-sdk/client-s3'
import type { RunningMinio } from '@holdfast/testing/minio'

/**
 * The keys of the multipart uploads that have neither become objects nor been aborted: of those under `key` as the drives
 * have it, or of all that this very node remembers. MinIO lists a whole bucket from the memory of the node that is asked,
 * which knows nothing of what others began, nor of what it began before its start, and does not forget what others ended.
 */
export async function unfinishedUploads(
  { client }: RunningMinio,
  bucket: string,
  key?: string,
): Promise<string[]> {
  const unfinished: string[] = []
  const command = new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: key })
  for (const { Key, UploadId } of (await client.send(command)).Uploads ?? []) {
    const parts = new ListPartsCommand({ Bucket: bucket, Key, UploadId })
    const isThere = await client.send(parts).then(() => true, isNoSuchUpload)
    if (isThere) unfinished.push(Key ?? '')
  }
  return unfinished
}

function isNoSuchUpload(error: unknown): false {
  if (error instanceof Error && error.name === 'NoSuchUpload') return false
  throw error
}
