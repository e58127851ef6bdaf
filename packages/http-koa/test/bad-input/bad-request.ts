/** A request that must be refused. */
export interface BadRequest {
  readonly title: string
  /** All that the client sends. */
  readonly bytes: string | Uint8Array
  readonly status: number
  /** Whether the client then says that nothing more is coming. Default: it waits, as if something were. */
  readonly ends?: boolean
}

/** A table of bad requests: title, bytes, and the status of the answer. */
export type Table = readonly (readonly [
  title: string,
  bytes: string | Uint8Array,
  status: number,
])[]

export function badRequests(area: string, table: Table, ends = false): readonly BadRequest[] {
  return table.map(([title, bytes, status]) => ({
    title: `${area}: ${title}`,
    bytes,
    status,
    ends,
  }))
}
