import { AbortMultipartUploadCommand } from '@aws-sdk/client-s3'
import { isAnswer } from '../errors/s3-errors.ts'
import type { ObjectWrite } from './object-write.ts'

/** Never throws: the caller reports the error that led here, and the next sweep removes the upload. */
export async function abortMultipart(
  { s3, bucket, key, log }: Pick<ObjectWrite, 's3' | 'bucket' | 'key' | 'log'>,
  upload: string,
): Promise<void> {
  const command = new AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId: upload })
  await s3.send(command).catch((error: unknown) => {
    if (isAnswer(error, 'NoSuchUpload')) return
    log.warn(`An upload that failed could not be removed from the bucket: ${String(error)}`)
  })
}
