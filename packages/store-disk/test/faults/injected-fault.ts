import type { Dir } from 'node:fs'
import { interceptFileCalls, type FileCall } from '../file-calls-intercepted.ts'
import { systemError } from '../full-disk.ts'

export interface Fault {
  /** What fails: a function and what it is called for, such as `rename temporary` or `sync customer`. */
  readonly call: string
  /** As the system calls the error, such as `EIO`. */
  readonly code: string
  /** Which of these calls is the first that fails, from 1. Default: 1. */
  readonly nth?: number
}

export interface InjectedFault {
  /** How many calls failed. */
  readonly hits: () => number
  /** The most calls of `sync` and `datasync` on one descriptor. */
  readonly syncs: () => number
  [Symbol.dispose](): void
}

/** Each of them tells the next entry, and may ask the system for more; an error of either is one of `readdir`. */
const ofDirectories = ['read', 'readSync']

/** Has calls of the file system on a store in `data` fail, until it is disposed of. */
export async function injectFault(data: string, fault: Fault): Promise<InjectedFault> {
  const { call: awaited, code, nth = 1 } = fault
  const syncs = new Map<number, number>()
  let calls = 0
  let mostSyncs = 0

  const failIfMeant = (name: string, path: string) => {
    if (`${name} ${kindOf(data, path)}` === awaited && ++calls >= nth) throw systemError(code, name)
  }
  const count = (descriptor: number) => {
    syncs.set(descriptor, (syncs.get(descriptor) ?? 0) + 1)
    mostSyncs = Math.max(mostSyncs, syncs.get(descriptor) ?? 0)
  }
  const failWhileReading = (directory: Dir, path: string) => {
    for (const read of ofDirectories) {
      const original = Reflect.get(directory, read) as (...args: unknown[]) => unknown
      Reflect.set(directory, read, (...args: unknown[]) => {
        failIfMeant('readdir', path)
        return Reflect.apply(original, directory, args)
      })
    }
  }

  const interception = await interceptFileCalls({
    before({ name, path, descriptor }) {
      if (name.endsWith('sync') && descriptor !== undefined) count(descriptor)
      // A descriptor is free, whatever the system says of its closing.
      if (name !== 'close') failIfMeant(name, path)
    },
    after({ name, path }: FileCall, result) {
      if (name === 'close') failIfMeant(name, path)
      // The number may be that of a file which was closed.
      if (name === 'open' && typeof result === 'number') syncs.delete(result)
      if (name === 'opendir') failWhileReading(result as Dir, path)
    },
  })
  return {
    hits: () => Math.max(0, calls - nth + 1),
    syncs: () => mostSyncs,
    [Symbol.dispose]: () => interception[Symbol.dispose](),
  }
}

/** What `path` is to a store in `data`: `temporary`, `files`, `customer`, `blob`, `generation`, `uploads`, `upload`, `content` or `other`. */
function kindOf(data: string, path: string): string {
  const [top, ...below] = path.slice(data.length + 1).split('/')
  if (!path.startsWith(`${data}/`)) return 'other'
  if (top === 'tmp') return 'temporary'
  if (top === 'uploads') return kindOfUpload(below)
  if (top === 'links' && below.length === 2) return 'generation'
  return top === 'files' ? (['files', 'customer', 'blob'][below.length] ?? 'other') : 'other'
}

function kindOfUpload([customer, id, file]: readonly string[]): string {
  if (file !== undefined) return file.startsWith('bytes-') ? 'content' : 'record'
  if (id !== undefined) return 'upload'
  return customer === undefined ? 'uploads' : 'uploader'
}
