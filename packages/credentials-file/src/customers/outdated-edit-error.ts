import { CustomersFileError } from './customers-file-error.ts'

/** Somebody else has changed the file since it was opened; the same edit of the file as it is now may well succeed. */
export class OutdatedEditError extends CustomersFileError {
  constructor(path: string) {
    super(path, [
      { message: 'was changed by somebody else meanwhile; nothing was written, try again' },
    ])
  }
}
