import { FileServiceError } from '@holdfast/core'

export function uploadNotFound(): FileServiceError {
  return new FileServiceError('upload-not-found', 'There is no such upload')
}

export function uploadConflict(message: string): FileServiceError {
  return new FileServiceError('upload-conflict', message)
}

/** The reason of an append that a later call ends. */
export function endedByLater(): FileServiceError {
  return uploadConflict('A later request goes on with the upload')
}
