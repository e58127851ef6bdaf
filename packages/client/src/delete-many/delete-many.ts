import { requireIterable, requireName } from '../options/require.ts'
import type { Requests } from '../requests/requests.ts'
import type { Patience } from '../requests/with-retries.ts'
import type { DeleteOptions, FileDeleted } from './delete-options.ts'
import { deleteTogether } from './delete-together.ts'

/** What the server takes in one request. */
const limits = { names: 10_000, bytes: 4 * 1024 ** 2 }

/** Deletes files as many in a request as the server takes, in the order of `names`. */
export async function* deleteMany(
  requests: Requests,
  patience: Patience,
  names: Iterable<string> | AsyncIterable<string>,
  options: DeleteOptions,
): AsyncGenerator<FileDeleted, void> {
  requireIterable('The names', names)
  const encoder = new TextEncoder()
  let together: string[] = []
  let bytes = 0
  for await (const name of names) {
    options.signal?.throwIfAborted()
    requireName(name)
    // With a comma, or a bracket.
    const size = encoder.encode(JSON.stringify(name)).length + 1
    if (together.length === limits.names || bytes + size >= limits.bytes) {
      yield* deleteTogether(requests, patience, together, options)
      together = []
      bytes = 0
    }
    together.push(name)
    bytes += size
  }
  yield* deleteTogether(requests, patience, together, options)
}
