import {
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandInput,
  type ListMultipartUploadsCommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3'
import { isAnswer } from '../errors/s3-errors.ts'

/** A page of the unfinished multipart uploads; an empty one where the server says that there is no such upload. */
export async function listUploads(
  s3: S3Client,
  request: ListMultipartUploadsCommandInput,
): Promise<Partial<ListMultipartUploadsCommandOutput>> {
  try {
    return await s3.send(new ListMultipartUploadsCommand(request))
  } catch (error) {
    // What rclone answers for an empty list.
    if (isAnswer(error, 'NoSuchUpload')) return {}
    throw error
  }
}
