/** A response, on any runtime. */
interface Response {
  readonly closed?: boolean
  readonly destroyed: boolean
}

/** Whether a response has been sent to its end or cut off. Responses of Deno have no `closed`. */
export function isClosed(response: Response): boolean {
  return response.closed ?? response.destroyed
}
