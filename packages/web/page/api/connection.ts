import type { ReadonlySignal } from '@preact/signals'

export interface Credentials {
  readonly customer: string
  readonly password: string
}

/** How the page speaks with the server as one customer. */
export interface Connection {
  readonly customer: string
  /** Whether the password is not accepted any more, so that nothing is sent; `renew` ends that. */
  readonly isRefused: ReadonlySignal<boolean>
  renew(password: string): void
  /** The address of a route, such as `list?limit=1`. */
  url(path: string): string
  /**
   * The response, if its status is 2xx.
   *
   * @throws ApiError
   */
  request(path: string, init?: RequestInit): Promise<Response>
  /**
   * Has `send` send a request, which fails with an ApiError. Where the password was refused, and is another one meanwhile, once more:
   * such a refusal says nothing of the new one.
   */
  readonly attempt: <Result>(send: Send<Result>) => Promise<Result>
}

/** Sends a request with these headers, which name the customer. */
export type Send<Result> = (headers: Readonly<Record<string, string>>) => Promise<Result>
