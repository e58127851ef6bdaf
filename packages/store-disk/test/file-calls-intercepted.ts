import fs, { readlinkSync } from 'node:fs'
import fsp, { open, type FileHandle } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { callbackify, promisify } from 'node:util'

/** A call of the file system. */
export interface FileCall {
  /** What is called, such as `open` or `sync`, whether it blocks, calls back or promises. */
  readonly name: string
  /** Of the file or directory. */
  readonly path: string
  /** Where the call has one. */
  readonly descriptor: number | undefined
  /** Whether nothing else goes on until it has ended. */
  readonly isBlocking: boolean
  readonly args: unknown[]
}

export interface Interception {
  /** Comes before the call, may change its arguments, and makes it fail by throwing. */
  readonly before?: (call: FileCall) => void
  /** Comes behind a call that has succeeded, and makes it fail all the same by throwing. */
  readonly after?: (call: FileCall, result: unknown) => void
}

type Method = (...args: unknown[]) => unknown
type Done = (error: Error | null, ...results: unknown[]) => void

const blocking = {
  openSync: 'open',
  writeSync: 'write',
  futimesSync: 'utimes',
  fstatSync: 'stat',
  closeSync: 'close',
  renameSync: 'rename',
  linkSync: 'link',
  symlinkSync: 'symlink',
  readSync: 'read',
  lstatSync: 'lstat',
  unlinkSync: 'unlink',
}
const callingBack = {
  open: 'open',
  write: 'write',
  futimes: 'utimes',
  fstat: 'stat',
  fsync: 'sync',
  fdatasync: 'datasync',
  close: 'close',
  rename: 'rename',
  link: 'link',
  symlink: 'symlink',
  read: 'read',
  lstat: 'lstat',
  unlink: 'unlink',
}
const promising = [
  ...['open', 'mkdir', 'rename', 'link', 'unlink', 'lstat', 'opendir', 'utimes'],
  ...['access', 'readFile'],
]
const ofHandles = ['write', 'sync', 'utimes', 'stat', 'read']

/** Has the calls that a store makes go through `before` and `after`, until it is disposed of. */
export async function interceptFileCalls({ before, after }: Interception): Promise<Disposable> {
  const undo: (() => void)[] = []
  const replace = (object: object, method: string, wrap: (original: Method) => Method) => {
    const original = Reflect.get(object, method) as Method
    undo.push(() => Reflect.set(object, method, original))
    // What promisify() needs to know of a function is among its properties.
    const properties = Object.getOwnPropertyDescriptors(original)
    Reflect.set(object, method, Object.defineProperties(wrap(original), properties))
  }
  const begin = (name: string, isBlocking: boolean, [subject, ...args]: unknown[]) => {
    const descriptor = typeof subject === 'number' ? subject : undefined
    const path = descriptor === undefined ? String(subject) : pathOf(descriptor)
    const call = { name, path, descriptor, isBlocking, args: [subject, ...args] }
    before?.(call)
    return call
  }

  for (const [method, name] of Object.entries(blocking)) {
    replace(fs, method, (original) => (...args) => {
      const call = begin(name, true, args)
      const result = Reflect.apply(original, fs, call.args)
      after?.(call, result)
      return result
    })
  }
  for (const [method, name] of Object.entries(callingBack)) {
    replace(fs, method, (original) => (...args) => {
      const done = args.pop() as Done
      const attempt = (work: () => void) => {
        try {
          work()
        } catch (error) {
          done(error as Error)
        }
      }
      attempt(() => {
        const call = begin(name, false, args)
        Reflect.apply(original, fs, [
          ...call.args,
          (error: Error | null, ...results: unknown[]) => {
            attempt(() => {
              if (error) throw error
              after?.(call, results[0])
            })
            if (!error) done(null, ...results)
          },
        ])
      })
    })
  }
  for (const name of promising) {
    replace(fsp, name, (original) => async (...args) => {
      const call = begin(name, false, args)
      const result = await Reflect.apply(original, fsp, call.args)
      after?.(call, result)
      return result
    })
  }
  const handles = await fileHandlePrototype()
  for (const name of ofHandles) {
    replace(handles, name, (original) => {
      return async function (this: FileHandle, ...args) {
        const call = begin(name, false, [this.fd, ...args])
        const result = await Reflect.apply(original, this, call.args.slice(1))
        after?.(call, result)
        return result
      }
    })
  }
  syncBuiltinESMExports()
  return {
    [Symbol.dispose]() {
      for (const restore of undo.reverse()) restore()
      syncBuiltinESMExports()
    },
  }
}

/** Has every sync of that kind done by `replacement`, which is given the real one, until it is disposed of. */
export function replaceSync(
  kind: 'fsync' | 'fdatasync',
  replacement: (descriptor: number, real: () => Promise<void>) => unknown,
): Disposable {
  const real = fs[kind]
  const replaced = async (descriptor: number) => {
    await replacement(descriptor, () => promisify(real)(descriptor))
  }
  Reflect.set(fs, kind, callbackify(replaced))
  syncBuiltinESMExports()
  return {
    [Symbol.dispose]() {
      Reflect.set(fs, kind, real)
      syncBuiltinESMExports()
    },
  }
}

/** The object that all file handles have their methods from. */
export async function fileHandlePrototype(): Promise<object> {
  await using handle = await open(import.meta.filename)
  return Object.getPrototypeOf(handle) as object
}

function pathOf(descriptor: number): string {
  return descriptor < 0 ? '' : readlinkSync(`/proc/self/fd/${descriptor}`)
}
