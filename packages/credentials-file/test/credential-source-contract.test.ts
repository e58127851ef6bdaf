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
    const customers = credentials.map(({ passwordHash, ...rest }) => ({
      ...rest,
      password: passwordHash,
    }))
    await writeFile(path, JSON.stringify({ customers }))
    const source = await openFileCredentialSource(path, { pollIntervalMs: 0 })
    const dispose = async () => {
      await source.close()
      await directory.remove()
    }
    return { source, dispose }
  },
  { passwordHash: madeUpHash, hasLinkKeys: true },
)
