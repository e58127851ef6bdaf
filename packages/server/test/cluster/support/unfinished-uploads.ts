import { ListMultipartUploadsCommand, ListPartsCommand } from '@aws-sdk/client-s3'
import type { RunningMinio } from '@holdfast/minio-container'

/**
 * The keys, among these, of the multipart uploads that have neither become objects nor been aborted. Looks at the
 * drives: a bucket's uploads MinIO lists from the memory of the node that is asked, which neither knows what others
 * began nor forgets what others ended. What is left on a minority of drives, those of a node that was down when the
 * upload ended, counts for nothing: MinIO itself takes it for gone.
 */
export async function unfinishedUploads(
  { client }: RunningMinio,
  bucket: string,
  keys: Iterable<string>,
): Promise<string[]> {
  const unfinished: string[] = []
  for (const key of keys) {
    const command = new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: key })
    for (const { UploadId: id } of (await client.send(command)).Uploads ?? []) {
      const parts = new ListPartsCommand({ Bucket: bucket, Key: key, UploadId: id })
      const isThere = await client.send(parts).then(() => true, isNoSuchUpload)
      if (isThere) unfinished.push(key)
    }
  }
  return unfinished
}

function isNoSuchUpload(error: unknown): false {
  if (error instanceof Error && error.name === 'NoSuchUpload') return false
  throw error
}
