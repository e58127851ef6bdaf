import type { StoreClient } from '../http/s3-client.ts'

/** Where a store tries at its start what the server can. */
export interface ServerTrial {
  readonly client: StoreClient
  readonly bucket: string
  readonly prefix: string
  readonly log: { warn(message: string): void }
}

/** Milliseconds after which a server that does not answer must not delay the opening any more. */
export const patience = 15_000
