import { linkError, unreachable } from './link-error.ts'

/** A request that sends bytes of a file. */
export interface BytesRequest {
  readonly method: 'PUT' | 'PATCH'
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly bytes: Blob
  readonly signal: AbortSignal
  /** How many of the bytes have been sent. */
  readonly onSent: (bytes: number) => void
}

/**
 * Sends them. `fetch` does not say how much it has sent.
 *
 * @throws HoldfastError
 */
export function sendBytes({ bytes, signal, ...request }: BytesRequest): Promise<undefined> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const sending = new XMLHttpRequest()
    sending.open(request.method, request.url)
    for (const [name, value] of Object.entries(request.headers ?? {})) {
      sending.setRequestHeader(name, value)
    }
    sending.upload.onprogress = ({ loaded }) => request.onSent(loaded)
    sending.onerror = () => reject(unreachable())
    sending.onload = () => {
      const { status, responseText } = sending
      if (status >= 200 && status < 300) resolve(undefined)
      else reject(linkError(status, responseText, sending.getResponseHeader('Retry-After')))
    }
    signal.addEventListener('abort', () => {
      sending.abort()
      reject(signal.reason as Error)
    })
    sending.send(bytes)
  })
}
