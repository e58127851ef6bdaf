import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cheapCost, makeTemporaryDirectory, type TemporaryDirectory } from '@holdfast/testing'
import type { CustomersFileError } from '../src/customers/customers-file-error.ts'
import {
  type FileCredentialSource,
  type FileCredentialSourceOptions,
  openFileCredentialSource,
  type ReloadSummary,
} from '../src/open-file-credential-source.ts'

/** A customers file with plain-text passwords. */
export function plainCustomers(...names: string[]): string {
  const items = names.map((name) => `  - name: ${name}\n    password: pw-${name}\n`)
  return `customers:${names.length > 0 ? '' : ' []'}\n${items.join('')}`
}

/** A path to a customers file for each test of the suite, and sources over it that are closed afterwards. */
export function useCustomersFile() {
  let directory: TemporaryDirectory
  const opened: FileCredentialSource[] = []
  beforeEach(async () => {
    directory = await makeTemporaryDirectory()
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((source) => source.close()))
    await directory.remove()
  })

  const path = () => join(directory.path, 'customers.yaml')
  return {
    path,
    directory: () => directory.path,
    write: (text: string) => writeFile(path(), text, { mode: 0o600 }),
    async replace(text: string) {
      await writeFile(`${path()}.new`, text, { mode: 0o600 })
      await rename(`${path()}.new`, path())
    },
    async open(options: FileCredentialSourceOptions = {}) {
      const reloaded: ReloadSummary[] = []
      const refused: CustomersFileError[] = []
      const warnings: string[] = []
      const source = await openFileCredentialSource(path(), {
        pollIntervalMs: 10,
        cost: cheapCost,
        onReloaded: (summary) => reloaded.push(summary),
        onRefused: (error) => refused.push(error),
        onWarning: (message) => warnings.push(message),
        ...options,
      })
      opened.push(source)
      return { source, reloaded, refused, warnings }
    },
  }
}
