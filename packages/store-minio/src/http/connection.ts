import type { Timeouts } from './http-handler.ts'

/** How a server is reached, and as whom. */
export interface Connection extends Timeouts {
  /** As in `http://host:9000`. */
  readonly endpoint: string
  readonly region: string
  readonly accessKey: string
  readonly secretKey: string
  readonly sessionToken?: string | undefined
}
