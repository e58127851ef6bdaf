/** The part of the kernel's FUSE protocol, version 7.31, that a file system with one file needs. */

/** What the kernel asks for. */
export const operations = {
  forget: 2,
  getAttributes: 3,
  setAttributes: 4,
  open: 14,
  read: 15,
  write: 16,
  release: 18,
  sync: 20,
  flush: 25,
  begin: 26,
  interrupt: 36,
  forgetMany: 42,
} as const

/** Error numbers of Linux. */
export const errors = { inputOutput: 5, notImplemented: 38 } as const

export interface FuseRequest {
  readonly operation: number
  readonly unique: bigint
  /** Without the header. Valid until the next request is read. */
  readonly body: Buffer
}

/** Bytes of one write at most. */
export const maximumWrite = 128 * 1024

/** Bytes that the longest request may have. */
export const maximumRequest = maximumWrite + 4096

const headerSize = 40

export function parseRequest(bytes: Buffer): FuseRequest {
  return {
    operation: bytes.readUInt32LE(4),
    unique: bytes.readBigUInt64LE(8),
    body: bytes.subarray(headerSize, bytes.readUInt32LE(0)),
  }
}

/** An answer, with its `body` or the number of an error. */
export function answer({ unique }: FuseRequest, body: Buffer, error = 0): Buffer {
  const header = Buffer.alloc(16)
  header.writeUInt32LE(header.length + body.length, 0)
  header.writeInt32LE(-error, 4)
  header.writeBigUInt64LE(unique, 8)
  return Buffer.concat([header, body])
}

/** What is agreed at the beginning. The kernel goes down to this version, and what is 0 is not used. */
export function beginning(): Buffer {
  const body = Buffer.alloc(64)
  body.writeUInt32LE(7, 0)
  body.writeUInt32LE(31, 4)
  body.writeUInt32LE(maximumWrite, 8)
  // Writes larger than a page.
  body.writeUInt32LE(1 << 5, 12)
  body.writeUInt16LE(64, 16)
  body.writeUInt16LE(48, 18)
  body.writeUInt32LE(maximumWrite, 20)
  body.writeUInt32LE(1, 24)
  return body
}

/** The attributes of a regular file of `size` bytes, which stay valid for an hour. */
export function attributes(size: number): Buffer {
  const body = Buffer.alloc(104)
  body.writeBigUInt64LE(3600n, 0)
  body.writeBigUInt64LE(1n, 16)
  body.writeBigUInt64LE(BigInt(size), 24)
  body.writeBigUInt64LE(BigInt(size / 512), 32)
  body.writeUInt32LE(0o100600, 76)
  body.writeUInt32LE(1, 80)
  body.writeUInt32LE(4096, 96)
  return body
}

/** The open file `file`, which the kernel keeps no copy of: what it has taken from a writer, the disk has. */
export function opened(file: number): Buffer {
  const body = Buffer.alloc(16)
  body.writeBigUInt64LE(BigInt(file), 0)
  body.writeUInt32LE(1, 8)
  return body
}

/** The answer to a write of `length` bytes. */
export function written(length: number): Buffer {
  const body = Buffer.alloc(8)
  body.writeUInt32LE(length, 0)
  return body
}

/** Which open file is to be read, written or synced. */
export function fileOf(body: Buffer): number {
  return Number(body.readBigUInt64LE(0))
}

/** Where a read or a write begins, how long it is, and what is to be written. */
export function range(body: Buffer): { offset: number; length: number; content: Buffer } {
  const length = body.readUInt32LE(16)
  return {
    offset: Number(body.readBigUInt64LE(8)),
    length,
    content: body.subarray(headerSize, headerSize + length),
  }
}
