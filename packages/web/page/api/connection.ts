import type { ReadonlySignal } from '@preact/signals'
import type { Client } from '@holdfast/client/browser'

export interface Credentials {
  readonly customer: string
  readonly password: string
}

/** How the page speaks with the server as one customer. */
export interface Connection {
  readonly customer: string
  /** Tries nothing again by itself: the page does, and shows it. */
  readonly client: Client
  /** Whether the password is not accepted any more, so that nothing is sent; `renew` ends that. */
  readonly isRefused: ReadonlySignal<boolean>
  renew(password: string): void
  /** The address of a route, such as `link/a`. */
  url(path: string): string
}

/** How the page reaches the content of a customer's files: by links where the server makes them. */
export interface CustomerAccess {
  readonly connection: Connection
  readonly hasLinks: boolean
}
