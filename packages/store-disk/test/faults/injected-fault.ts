import { readlinkSync } from 'node:fs'
import fsp, { type FileHandle } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { fileHandlePrototype, systemError } from '../full-disk.ts'

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
  /** The most calls of `sync` on one descriptor. */
  readonly syncs: () => number
  [Symbol.dispose](): void
}

type Method = (...args: unknown[]) => Promise<unknown>

const ofHandles = ['write', 'sync', 'utimes', 'stat', 'read']
const ofPaths = ['open', 'mkdir', 'rename', 'link', 'unlink', 'lstat', 'opendir', 'utimes']

/** Has calls of the file system on a store in `data` fail, until it is disposed of. */
export async function injectFault(data: string, fault: Fault): Promise<InjectedFault> {
  const { call, code, nth = 1 } = fault
  const undo: (() => void)[] = []
  const syncs = new WeakMap<object, number>()
  let calls = 0
  let mostSyncs = 0

  const isToFail = (actual: string) => actual === call && ++calls >= nth
  const count = (handle: object) => {
    syncs.set(handle, (syncs.get(handle) ?? 0) + 1)
    mostSyncs = Math.max(mostSyncs, syncs.get(handle) ?? 0)
  }
  const replace = (object: object, method: string, wrap: (original: Method) => Method) => {
    const original = Reflect.get(object, method) as Method
    undo.push(() => Reflect.set(object, method, original))
    Reflect.set(object, method, wrap(original))
  }

  const handles = await fileHandlePrototype()
  for (const method of ofHandles) {
    replace(handles, method, (original) => {
      return async function (this: FileHandle, ...args) {
        if (method === 'sync') count(this)
        const isFailing = isToFail(`${method} ${kindOf(data, pathOf(this))}`)
        if (isFailing) throw systemError(code, method)
        return Reflect.apply(original, this, args)
      }
    })
  }
  for (const method of ofPaths) {
    replace(fsp, method, (original) => async (...args) => {
      const kind = kindOf(data, String(args[0]))
      if (isToFail(`${method} ${kind}`)) throw systemError(code, method)
      const result = await Reflect.apply(original, fsp, args)
      if (method === 'open' && isToFail(`close ${kind}`)) {
        replace(result as FileHandle, 'close', (close) => async () => {
          // A descriptor is free, whatever the system says of its closing.
          await close()
          throw systemError(code, 'close')
        })
      }
      return method === 'opendir' && isToFail(`readdir ${kind}`)
        ? failingAfterFirst(result as AsyncIterable<unknown>, systemError(code, 'readdir'))
        : result
    })
  }
  syncBuiltinESMExports()
  return {
    hits: () => Math.max(0, calls - nth + 1),
    syncs: () => mostSyncs,
    [Symbol.dispose]() {
      for (const restore of undo) restore()
      syncBuiltinESMExports()
    },
  }
}

/** What `path` is to a store in `data`: `temporary`, `files`, `customer`, `blob` or `other`. */
function kindOf(data: string, path: string): string {
  const [top, ...below] = path.slice(data.length + 1).split('/')
  if (!path.startsWith(`${data}/`)) return 'other'
  if (top === 'tmp') return 'temporary'
  return top === 'files' ? (['files', 'customer', 'blob'][below.length] ?? 'other') : 'other'
}

function pathOf({ fd }: FileHandle): string {
  return fd < 0 ? '' : readlinkSync(`/proc/self/fd/${fd}`)
}

async function* failingAfterFirst(entries: AsyncIterable<unknown>, error: Error) {
  for await (const entry of entries) {
    yield entry
    throw error
  }
}
