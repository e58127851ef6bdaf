import { readFile } from 'node:fs/promises'

/** A mounted file system. */
export interface Mount {
  /** Where it is mounted. */
  readonly point: string
  /** As the kernel calls it: `ext4`, `nfs4`, `fuse.sshfs`. */
  readonly type: string
  readonly options: readonly string[]
  /** Whether it was mounted to be written, and takes no writes all the same: the kernel does that after a fault of the disk. */
  readonly isForcedReadOnly: boolean
}

/**
 * The file system that `path`, absolute and without symbolic links, is on; `undefined` if the system does not report
 * it.
 */
export async function findMount(path: string): Promise<Mount | undefined> {
  // Linux only. Unlike the numbers of `statfs`, it names the program of a FUSE mount, and the mount options.
  const table = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '')
  const above = parseMounts(table).filter(({ point }) => isBelow(path, point))
  // Of those mounted at one point the last one is seen.
  return above.reduce<Mount | undefined>(
    (inner, mount) => (mount.point.length >= (inner?.point.length ?? 0) ? mount : inner),
    undefined,
  )
}

/** The file systems in a table as in `/proc/self/mountinfo` (proc(5)), in its order. */
export function parseMounts(table: string): readonly Mount[] {
  return table.split('\n').flatMap((line) => {
    const [place = '', system = ''] = line.split(' - ')
    const [, , , , point, options = ''] = place.split(' ')
    const [type, , systemOptions = ''] = system.split(' ')
    if (point === undefined || type === undefined) return []
    const [here, everywhere] = [options.split(','), systemOptions.split(',')]
    const isForcedReadOnly = here.includes('rw') && everywhere.includes('ro')
    return [{ point: unescape(point), type, options: [...here, ...everywhere], isForcedReadOnly }]
  })
}

function isBelow(path: string, point: string): boolean {
  return path === point || path.startsWith(point === '/' ? '/' : `${point}/`)
}

/** Blanks and backslashes come as three octal digits. */
function unescape(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(parseInt(digits, 8)),
  )
}
