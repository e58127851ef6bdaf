import { OutdatedEditError } from './customers/customers-file-error.ts'
import { openCustomersFile, type CustomersFile } from './open-customers-file.ts'

/** More than administrators start at the same time by hand. */
const maxAttempts = 100

/**
 * Opens the customers file at `path`, calls `change`, and saves. If another edit was saved meanwhile, it begins again with
 * the new file, so that concurrent edits all succeed; `change` may be called several times and must only change its
 * argument.
 *
 * @throws CustomersFileError as {@link openCustomersFile} does, and whatever `change` throws; then nothing is written.
 */
export async function editCustomersFile(
  path: string,
  change: (file: CustomersFile) => void,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const file = await openCustomersFile(path)
    change(file)
    try {
      return await file.save()
    } catch (error) {
      if (!(error instanceof OutdatedEditError) || attempt === maxAttempts) throw error
    }
  }
}
