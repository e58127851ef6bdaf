import { DeleteObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { isAnswer } from '../errors/s3-errors.ts'

/** Where a trial has put an object, and as which version. */
export interface TrialPlace {
  readonly Bucket: string
  readonly Key: string
  readonly VersionId: string | undefined
}

/** Removes it with its version. */
export async function deleteTrialObject(
  s3: S3Client,
  { VersionId, ...place }: TrialPlace,
  options?: { readonly abortSignal: AbortSignal },
): Promise<void> {
  try {
    await s3.send(new DeleteObjectCommand({ ...place, VersionId }), options)
  } catch (error) {
    // Without a right to versions one stays, with its mark of deletion, like those of customers' files.
    if (VersionId === undefined || !isAnswer(error, 'AccessDenied')) throw error
    await s3.send(new DeleteObjectCommand(place), options)
  }
}
