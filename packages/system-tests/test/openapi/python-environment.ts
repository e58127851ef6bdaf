import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cachedInstallation } from './cached-installation.ts'

const run = promisify(execFile)

/**
 * The folder of a Python environment with exactly the packages that the file `requirements` lists; its programs are in
 * `bin`. Made once for each list and each version of Python.
 */
export async function ensurePythonEnvironment(name: string, requirements: string): Promise<string> {
  const { stdout: version } = await run('python3', ['--version'])
  const inputs = [version, await readFile(requirements)]
  return cachedInstallation(name, inputs, async (folder) => {
    await run('python3', ['-m', 'venv', '--clear', folder])
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
    const exactly = ['--only-binary', ':all:', '--no-deps', '-r', requirements]
    await run(join(folder, 'bin/python'), [...pip, ...exactly])
  })
}
