import type { UploadContent } from '@holdfast/core'

/** The headers of a request by their names in lower case, as Node has them; those sent twice are joined by commas. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** What every protocol needs of a request, whatever server has received it. */
export interface ProtocolRequest {
  readonly headers: RequestHeaders
  /** The body. Called at most once, when it is about to be read. It throws, and does not end, if it is not complete. */
  content(): UploadContent
  /** Called with each chunk of the body that the store no longer needs. Default: no call. */
  readonly release?: ((chunk: Uint8Array) => void) | undefined
}

/** The value of a header, without the spaces around it; `undefined` where it is missing. */
export function headerOf({ headers }: Pick<ProtocolRequest, 'headers'>, name: string) {
  const value = headers[name]
  return (typeof value === 'string' ? value : value?.join(', '))?.trim()
}
