import { isHoldfastError } from '../errors/holdfast-error.ts'
import { ownAnswers } from '../requests/own-answers.ts'
import { textOf, type Requests } from '../requests/requests.ts'

/** Has the server forget an upload in pieces. One that it does not know is forgotten already. */
export async function discardUpload(
  requests: Requests,
  url: URL,
  signal: AbortSignal | undefined,
): Promise<void> {
  const headers = { 'Tus-Resumable': '1.0.0' }
  const expects = ownAnswers.uploadEnded
  try {
    await textOf(await requests.send({ method: 'DELETE', url, headers, expects, signal }))
  } catch (error) {
    if (!isHoldfastError(error, 'upload-not-found')) throw error
  }
}
