import { read as readFile, writeSync } from 'node:fs'
import { promisify } from 'node:util'
import type { ForgetfulDisk } from './forgetful-disk.ts'
import {
  answer,
  attributes,
  beginning,
  errors,
  fileOf,
  maximumRequest,
  opened,
  operations,
  parseRequest,
  range,
  written,
  type FuseRequest,
} from './fuse-requests.ts'

/** How often the power of the disk was cut. Files that were opened before the last cut answer with errors only. */
export interface PowerSupply {
  cuts: number
}

const nothing = Buffer.alloc(0)
const silent: readonly number[] = [operations.forget, operations.forgetMany, operations.interrupt]

/** Serves `disk` as one file to the kernel, by the open `/dev/fuse`; resolves when the file is unmounted. */
export async function serveFuse(
  fuse: number,
  disk: ForgetfulDisk,
  supply: PowerSupply,
): Promise<void> {
  const buffer = Buffer.alloc(maximumRequest)
  for (;;) {
    const length = await readRequest(fuse, buffer)
    if (length === undefined) return
    const request = parseRequest(buffer.subarray(0, length))
    if (silent.includes(request.operation)) continue
    try {
      writeSync(fuse, respond(request, disk, supply))
    } catch (error) {
      // The asking process was interrupted, and does not wait any more.
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }
}

function respond(request: FuseRequest, disk: ForgetfulDisk, supply: PowerSupply): Buffer {
  const { operation, body } = request
  if (operation === operations.begin) return answer(request, beginning())
  if (operation === operations.getAttributes || operation === operations.setAttributes) {
    return answer(request, attributes(disk.size))
  }
  if (operation === operations.open) return answer(request, opened(supply.cuts))
  if (operation === operations.release || operation === operations.flush) {
    return answer(request, nothing)
  }
  if (isTransfer(operation) && fileOf(body) !== supply.cuts) {
    return answer(request, nothing, errors.inputOutput)
  }
  return transfer(request, disk, body)
}

function transfer(request: FuseRequest, disk: ForgetfulDisk, body: Buffer): Buffer {
  if (request.operation === operations.read) {
    const { offset, length } = range(body)
    return answer(request, disk.read(offset, Math.min(length, disk.size - offset)))
  }
  if (request.operation === operations.write) {
    const { offset, content } = range(body)
    disk.write(offset, content)
    return answer(request, written(content.length))
  }
  if (request.operation !== operations.sync) return answer(request, nothing, errors.notImplemented)
  disk.flush()
  return answer(request, nothing)
}

function isTransfer(operation: number): boolean {
  const { read, write, sync } = operations
  return [read, write, sync].some((transfer) => transfer === operation)
}

/** The length of the next request in `buffer`; `undefined` when there will be none. */
async function readRequest(fuse: number, buffer: Buffer): Promise<number | undefined> {
  for (;;) {
    try {
      const { bytesRead } = await promisify(readFile)(fuse, buffer, 0, buffer.length, null)
      return bytesRead
    } catch (error) {
      if (hasCode(error, 'ENODEV')) return undefined
      // A request that was withdrawn meanwhile.
      if (!['ENOENT', 'EINTR', 'EAGAIN'].some((code) => hasCode(error, code))) throw error
    }
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
