import { FileServiceError } from './errors.ts'

/** The rejection for an upload in pieces that is not there. */
export function uploadNotFound(): FileServiceError {
  return new FileServiceError('upload-not-found', 'There is no such upload, or it has expired')
}

/** The rejection of a call that a later one has ended, or has left without the upload. */
export function uploadTakenOver(): FileServiceError {
  return uploadConflict('A later request goes on with the upload')
}

/** The rejection of bytes for an upload whose file is there. */
export function uploadPublished(): FileServiceError {
  return uploadConflict('The upload is published')
}

/** The rejection for an upload in pieces that is not where the caller believes it to be. */
export function uploadConflict(message: string): FileServiceError {
  return new FileServiceError('upload-conflict', message)
}
