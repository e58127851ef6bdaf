import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '../../..')
const run = promisify(execFile)

/** A repository of its own that has this one's files as they are now, nothing of which is committed. */
export interface RepositoryCopy {
  readonly folder: string
  /** Commits everything there is, at this time. */
  commit(date: Date): Promise<void>
  /** Runs `scripts/release/main.ts` of the copy; resolves when it ends, however. */
  release(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }>
  remove(): Promise<void>
}

export async function copyRepository(): Promise<RepositoryCopy> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-repository-'))
  // The checkout may be somebody else's, as in a container.
  const trusting = ['-c', `safe.directory=${root}`]
  const listing = [...trusting, 'ls-files', '--cached', '--others', '--exclude-standard', '-z']
  const { stdout } = await run('git', listing, { cwd: root, maxBuffer: 2 ** 26 })
  for (const path of stdout.split('\0')) if (path !== '') await copy(path, folder)
  const git = async (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const author = ['-c', 'user.name=Test', '-c', 'user.email=test@localhost']
    await run('git', [...author, ...args], { cwd: folder, env: { ...process.env, ...env } })
  }
  await git(['init', '--quiet'])
  return {
    folder,
    async commit(date) {
      await git(['add', '--all'])
      const message = ['commit', '--quiet', '--message', 'All of it']
      await git(message, { GIT_COMMITTER_DATE: date.toISOString() })
    },
    async release(...args) {
      const command = [join(folder, 'scripts/release/main.ts'), ...args]
      return run(process.execPath, command).then(
        (output) => ({ code: 0, ...output }),
        (error: unknown) => error as { code: number; stdout: string; stderr: string },
      )
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Git names what was deleted as well, until that is committed, and other tests' files come and go. */
async function copy(path: string, folder: string): Promise<void> {
  await cp(join(root, path), join(folder, path)).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  })
}
