import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describeCredentialSource } from '@holdfast/contract'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { openFileCredentialSource } from '../src/open-file-credential-source.ts'

const salt = 'A'.repeat(22)
const madeUpHash = (n: number) => `$scrypt$ln=4,r=8,p=1$${salt}$${String(n).padStart(42, 'B')}A`

describeCredentialSource(
  'openFileCredentialSource',
  async (credentials) => {
    const directory = await makeTemporaryDirectory()
    const path = join(directory.path, 'customers.yaml')
    const entries = credentials.map(({ passwordHash, endsAtMs, login: _, ...rest }) => ({
      ...rest,
      password: passwordHash,
      ...(endsAtMs !== undefined && { until: new Date(endsAtMs).toISOString() }),
    }))
    const customers = entries
      .filter(({ name }) => !name.includes('/'))
      .map((customer) => ({ ...customer, logins: loginsOf(customer.name, entries) }))
    await writeFile(path, JSON.stringify({ customers }))
    const source = await openFileCredentialSource(path, { pollIntervalMs: 0 })
    const dispose = async () => {
      await source.close()
      await directory.remove()
    }
    return { source, dispose }
  },
  { passwordHash: madeUpHash, hasLinkKeys: true, hasLogins: true },
)

/** The further logins of `customer` as the file has them: they get the customer's limits. */
function loginsOf<Entry extends { readonly name: string; readonly quota?: number }>(
  customer: string,
  entries: readonly Entry[],
) {
  return entries
    .filter(({ name }) => name.startsWith(`${customer}/`))
    .map(({ quota: _, ...login }) => ({ ...login, name: login.name.slice(customer.length + 1) }))
}
