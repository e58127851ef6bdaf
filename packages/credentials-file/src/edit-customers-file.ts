import { OutdatedEditError } from './customers/outdated-edit-error.ts'
import { openCustomersFile, type CustomersFile } from './open-customers-file.ts'

/** More of them at once than anybody starts by hand. */
const maxAttempts = 100

/**
 * Opens the customers file at `path`, makes `change`, and saves. Begins again with the file as it is then when
 * somebody else was faster, so that edits at once all come to pass; `change` must therefore do nothing but change what
 * it is given.
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
