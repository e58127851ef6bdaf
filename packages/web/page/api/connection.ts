import type { ReadonlySignal } from '@preact/signals'

export interface Credentials {
  readonly customer: string
  readonly password: string
}

/** How the page speaks with the server as one customer. */
export interface Connection {
  readonly customer: string
  /** Whether the password is not accepted any more; `renew` ends that. */
  readonly isRefused: ReadonlySignal<boolean>
  renew(password: string): void
  /** The address of a route, such as `list?limit=1`. */
  url(path: string): string
  headers(): Record<string, string>
  /**
   * The response, if its status is 2xx.
   *
   * @throws ApiError
   */
  request(path: string, init?: RequestInit): Promise<Response>
  /** Notes an error of a request that was made otherwise. */
  note(error: unknown): void
}
