import { isHoldfastError } from '../errors/holdfast-error.ts'
import { textOf, type Requests } from '../requests/requests.ts'

/** Has the server forget an upload in pieces. One that it does not know is forgotten already. */
export async function discardUpload(
  requests: Requests,
  url: URL,
  signal: AbortSignal | undefined,
): Promise<void> {
  const request = { method: 'DELETE', url, headers: { 'Tus-Resumable': '1.0.0' }, signal }
  try {
    await textOf(await requests.send(request))
  } catch (error) {
    if (!isHoldfastError(error, 'upload-not-found')) throw error
  }
}
