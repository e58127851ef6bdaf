import { advice } from '@holdfast/core'
import { CustomersFileError } from './customers-file-error.ts'

/** The file was changed by others after it was opened; the same edit of the new file may succeed. */
export class OutdatedEditError extends CustomersFileError {
  constructor(path: string) {
    super(path, [
      advice('was changed by somebody else meanwhile', 'nothing was written, try again'),
    ])
  }
}
