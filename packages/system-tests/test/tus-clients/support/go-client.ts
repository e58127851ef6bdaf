import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cachedInstallation } from '../../openapi/cached-installation.ts'

const run = promisify(execFile)
const sources = join(import.meta.dirname, '../programs/go')

/** The program of `programs/go`; built once for each version of Go and of its sources. */
export async function ensureGoClient(): Promise<string> {
  const { stdout: version } = await run('go', ['env', 'GOVERSION'])
  const files = ['go.mod', 'go.sum', 'main.go'].map((name) => readFile(join(sources, name)))
  const folder = await cachedInstallation(
    'go-clients',
    [version, ...(await Promise.all(files))],
    async (made) => {
      const env = { ...process.env, CGO_ENABLED: '0' }
      await run('go', ['build', '-o', join(made, 'upload'), '.'], { cwd: sources, env })
    },
  )
  return join(folder, 'upload')
}
