import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { makeTemporaryDirectory, type TemporaryDirectory } from '@holdfast/testing'
import { interceptFileCalls } from './file-calls-intercepted.ts'

/** Room on the disk: bytes. */
const room = 8 * 1024 * 1024

const canMount = process.platform === 'linux' && process.getuid?.() === 0 && tryMount()

/** A real one where this process may mount file systems, else real files and a system call that answers ENOSPC. */
export const fullDiskKind = canMount ? 'a real one' : 'an injected ENOSPC'

/** A directory on a disk with room for 8 MiB. */
export async function openFullDisk(): Promise<TemporaryDirectory> {
  const directory = await makeTemporaryDirectory()
  return canMount ? mountSmall(directory) : injectFull(directory)
}

function mountSmall(directory: TemporaryDirectory): TemporaryDirectory {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${room}`, 'holdfast-test', directory.path])
  return removedAfter(directory, () => execFileSync('umount', [directory.path]))
}

/** Lets no file grow beyond the room, as a disk would not. */
export async function injectFull(directory: TemporaryDirectory): Promise<TemporaryDirectory> {
  const interception = await interceptFileCalls({
    before({ name, descriptor = -1, args: [, bytes] }) {
      if (name !== 'write' || !(bytes instanceof Uint8Array)) return
      const { size } = statSync(`/proc/self/fd/${descriptor}`)
      if (size + bytes.length > room) throw systemError('ENOSPC', 'write')
    },
  })
  return removedAfter(directory, () => interception[Symbol.dispose]())
}

/** The same directory; it is removed after `undo`. */
function removedAfter(directory: TemporaryDirectory, undo: () => void): TemporaryDirectory {
  const remove = async () => {
    undo()
    await directory.remove()
  }
  return { path: directory.path, remove, [Symbol.asyncDispose]: remove }
}

/** An error as Node makes it of a failed system call. */
export function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${code}: injected, ${syscall}`), { code, syscall })
}

function tryMount(): boolean {
  try {
    execFileSync(
      'unshare',
      ['--mount', '--propagation', 'slave', 'mount', '-t', 'tmpfs', 'holdfast-test', '/mnt'],
      {
        stdio: 'ignore',
      },
    )
    return true
  } catch {
    return false
  }
}
