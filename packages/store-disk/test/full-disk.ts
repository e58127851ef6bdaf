import { execFileSync } from 'node:child_process'
import { open, type FileHandle } from 'node:fs/promises'
import { makeTemporaryDirectory, type TemporaryDirectory } from './temporary-directory.ts'

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
  return {
    path: directory.path,
    async [Symbol.asyncDispose]() {
      execFileSync('umount', [directory.path])
      await directory[Symbol.asyncDispose]()
    },
  }
}

/** Lets no file grow beyond the room, as a disk would not. */
export async function injectFull(directory: TemporaryDirectory): Promise<TemporaryDirectory> {
  const prototype = await fileHandlePrototype()
  const write = Reflect.get(prototype, 'write') as (bytes: Uint8Array) => Promise<unknown>
  Reflect.set(prototype, 'write', async function (this: FileHandle, bytes: Uint8Array) {
    if ((await this.stat()).size + bytes.length > room) throw systemError('ENOSPC', 'write')
    return write.call(this, bytes)
  })
  return {
    path: directory.path,
    async [Symbol.asyncDispose]() {
      Reflect.set(prototype, 'write', write)
      await directory[Symbol.asyncDispose]()
    },
  }
}

/** An error as Node makes it of a failed system call. */
export function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${code}: injected, ${syscall}`), { code, syscall })
}

/** The object that all file handles have their methods from. */
export async function fileHandlePrototype(): Promise<object> {
  await using handle = await open(import.meta.filename)
  return Object.getPrototypeOf(handle) as object
}

function tryMount(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'holdfast-test', '/mnt'], {
      stdio: 'ignore',
    })
    return true
  } catch {
    return false
  }
}
