import type { Timeouts } from './http-handler.ts'

/** The address of a server, and the credentials to use there. */
export interface Connection extends Timeouts {
  /** Such as `http://host:9000`. */
  readonly endpoint: string
  readonly region: string
  readonly accessKey: string
  readonly secretKey: string
  readonly sessionToken?: string | undefined
}
