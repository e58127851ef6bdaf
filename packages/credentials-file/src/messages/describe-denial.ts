import { accessSync, constants, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

const { R_OK, W_OK, X_OK } = constants

/** These concern the directory that something is in, whatever that is. */
const changesOfDirectory = ['mkdir', 'rename', 'link', 'unlink', 'rmdir']

/**
 * Who may not do what and where, if that is what `error` comes from, one of Node's with the path of a file or directory:
 * `uid 998, gid 998 may not write to /srv, which belongs to uid 0, gid 0 and has mode 0755`. It is the first directory on
 * the way that refuses. `undefined` for every other error, and where the reason lies elsewhere.
 */
export function describeDenial(error: unknown): string | undefined {
  if (!isDenial(error)) return undefined
  const path = resolve(error.path)
  const way = waysTo(path)
  const closed = way.find((directory) => !may(directory, X_OK))
  if (closed !== undefined) return tell('enter', closed)
  if (exists(path) && !changesOfDirectory.includes(error.syscall ?? '')) {
    if (!may(path, R_OK)) return tell('read', path)
    if (!may(path, W_OK)) return tell('write to', path)
  }
  const parent = way.at(-1)
  return parent === undefined || may(parent, W_OK) ? undefined : tell('write to', parent)
}

interface Denial extends Error {
  readonly path: string
  readonly syscall?: string
}

function isDenial(error: unknown): error is Denial {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'EACCES' || error.code === 'EPERM') &&
    'path' in error &&
    typeof error.path === 'string' &&
    process.platform !== 'win32'
  )
}

/** The directories that `path` is in, from the root to the last that there is. */
function waysTo(path: string): readonly string[] {
  const parent = dirname(path)
  return parent === path ? [] : [...waysTo(parent), parent].filter(exists)
}

/** What lies behind a closed directory is as good as missing. */
function exists(path: string): boolean {
  try {
    statSync(path)
    return true
  } catch {
    return false
  }
}

function may(path: string, wish: number): boolean {
  try {
    accessSync(path, wish)
    return true
  } catch {
    return false
  }
}

function tell(verb: string, path: string): string {
  const { uid, gid, mode } = statSync(path)
  const octal = (mode & 0o7777).toString(8).padStart(4, '0')
  return `uid ${process.getuid?.()}, gid ${process.getgid?.()} may not ${verb} ${path}, which belongs to uid ${uid}, gid ${gid} and has mode ${octal}`
}
