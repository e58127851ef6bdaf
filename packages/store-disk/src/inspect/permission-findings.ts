import type { Stats } from 'node:fs'
import { access, constants, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { finding, type Finding } from '@holdfast/core'
import { shellWord } from './shell-word.ts'

/**
 * Whether this process may do with the data directory what a store does, and others may not. What is not there yet is
 * passed over.
 */
export async function permissionFindings(data: string): Promise<readonly Finding[]> {
  const directories = [data, ...['files', 'uploads', 'tmp'].map((name) => join(data, name))]
  const found = (await Promise.all(directories.map(lookAt))).flatMap((each) => each ?? [])
  const [top] = found
  if (!top || process.platform === 'win32') return []
  const refusal = found.map(refusalOf).find((each) => each !== undefined)
  return [
    refusal ?? finding('ok', 'permissions', `${user()} may read, write and enter it`),
    ...ownerFindings(top),
    privacyFinding(found),
  ]
}

interface Directory {
  readonly path: string
  readonly stats: Stats
  readonly isUsable: boolean
}

async function lookAt(path: string): Promise<Directory | undefined> {
  // It is missing, or below a directory with a finding of its own.
  const stats = await stat(path).catch(() => undefined)
  if (!stats) return undefined
  const { R_OK, W_OK, X_OK } = constants
  const isUsable = await access(path, R_OK | W_OK | X_OK).then(
    () => true,
    () => false,
  )
  return { path, stats, isUsable }
}

function refusalOf({ path, stats, isUsable }: Directory): Finding | undefined {
  if (isUsable) return undefined
  const message = `${user()} may not read, write and enter ${path}; it belongs to uid ${stats.uid}, mode ${modeOf(stats)}`
  const remedy = `chown -R ${process.geteuid?.() ?? 'USER'} ${shellWord(path)} && chmod u+rwx ${shellWord(path)}`
  return finding('problem', 'permissions', message, remedy)
}

/** Root may everything, so that its checks say nothing of the user that the server runs as. */
function ownerFindings({ path, stats: { uid } }: Directory): readonly Finding[] {
  if (process.geteuid?.() !== 0 || uid === 0) return []
  const message = `root may do everything; ${path} belongs to uid ${uid}, and that user's rights were not tried`
  const remedy = `Run this as that user: sudo -u '#${uid}' holdfast doctor …`
  return [finding('warning', 'user', message, remedy)]
}

function privacyFinding(directories: readonly Directory[]): Finding {
  const isFor = (others: number) => (each: Directory) => (each.stats.mode & others) === others
  const writable = directories.find(isFor(0o003))
  if (writable) {
    const message = `every user of this machine may replace what is in ${writable.path} (mode ${modeOf(writable.stats)})`
    return finding('problem', 'privacy', message, `chmod o= ${shellWord(writable.path)}`)
  }
  // Others have to pass the top to get any further.
  const [top, ...inner] = directories
  const readable = top && isFor(0o001)(top) ? inner.find(isFor(0o001)) : undefined
  if (!readable) return finding('ok', 'privacy', 'other users of this machine cannot look into it')
  const message = `every user of this machine may look into ${readable.path} (mode ${modeOf(readable.stats)})`
  return finding('warning', 'privacy', message, `chmod o= ${shellWord(readable.path)}`)
}

function user(): string {
  return `uid ${process.geteuid?.() ?? 'of this process'}`
}

function modeOf({ mode }: Stats): string {
  return (mode & 0o7777).toString(8).padStart(4, '0')
}
