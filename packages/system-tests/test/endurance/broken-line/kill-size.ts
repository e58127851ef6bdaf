const MiB = 1024 ** 2

/** Bytes of an upload within which a server is killed: 256 MiB, or what `HOLDFAST_KILLED_UPLOAD_MIB` says. */
export function killSize(): number {
  return Number(process.env['HOLDFAST_KILLED_UPLOAD_MIB'] ?? 256) * MiB
}
