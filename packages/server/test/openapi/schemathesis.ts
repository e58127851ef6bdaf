import { execFile, type ExecFileException } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const here = import.meta.dirname

/** What schemathesis has found. */
export interface Findings {
  /** 0 where it has found nothing. */
  readonly code: number
  readonly output: string
}

/**
 * Has schemathesis ask the server at `url` whatever `description`, a file, lets expect an answer to, and more; as the
 * customer of the tests' sites. What it does is settled by the seed and by what the server answers.
 */
export async function runSchemathesis(
  url: string,
  description: string,
  args: readonly string[] = [],
): Promise<Findings> {
  const python = await ensureSchemathesis()
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-schemathesis-'))
  const config = ['--config-file', join(here, 'schemathesis.toml')]
  const command = ['-m', 'schemathesis.cli', ...config, 'run', description, '--url', url]
  const env = { ...process.env, SCHEMATHESIS_HOOKS: join(here, 'schemathesis_hooks.py') }
  try {
    const options = { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 }
    return await new Promise((resolve) => {
      execFile(python, [...command, '--no-color', ...args], options, (error, stdout, stderr) =>
        resolve({ code: codeOf(error), output: stdout + stderr }),
      )
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function codeOf(error: ExecFileException | null): number {
  if (error === null) return 0
  return typeof error.code === 'number' ? error.code : -1
}

/** Installs schemathesis in a place of its own beside the user's caches, once for each list of what it needs. */
async function ensureSchemathesis(): Promise<string> {
  const requirements = join(here, 'requirements.txt')
  const { stdout: version } = await run('python3', ['--version'])
  const key = createHash('sha256')
    .update(version)
    .update(await readFile(requirements))
    .digest('hex')
  const caches = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  const folder = join(caches, 'holdfast-schemathesis', key.slice(0, 16))
  const python = join(folder, 'bin/python')
  const stamp = join(folder, 'complete')
  if (!existsSync(stamp)) {
    await run('python3', ['-m', 'venv', '--clear', folder])
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
    await run(python, [...pip, '--only-binary', ':all:', '--no-deps', '-r', requirements])
    await writeFile(stamp, '')
  }
  return python
}
