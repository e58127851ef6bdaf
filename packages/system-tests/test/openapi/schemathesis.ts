import { execFile, type ExecFileException } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensurePythonEnvironment } from './python-environment.ts'

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
  const environment = await ensurePythonEnvironment('schemathesis', join(here, 'requirements.txt'))
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-schemathesis-'))
  const config = ['--config-file', join(here, 'schemathesis.toml')]
  const command = ['-m', 'schemathesis.cli', ...config, 'run', description, '--url', url]
  const env = { ...process.env, SCHEMATHESIS_HOOKS: join(here, 'schemathesis_hooks.py') }
  try {
    const options = { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 }
    return await new Promise((resolve) => {
      execFile(
        join(environment, 'bin/python'),
        [...command, '--no-color', ...args],
        options,
        (error, stdout, stderr) => resolve({ code: codeOf(error), output: stdout + stderr }),
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
