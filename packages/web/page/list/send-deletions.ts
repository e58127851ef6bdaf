import { isHoldfastError, type Client } from '@holdfast/client/browser'
import type { FileList } from './file-list-state.ts'

/** A file that could not be deleted. */
export type FailedDeletion = readonly [name: string, error: unknown]

/** What became of the files of one request. */
interface Sent {
  readonly failed: readonly FailedDeletion[]
  /** Whether the request as a whole failed, so that another one is pointless. */
  readonly isBroken: boolean
}

/** Sends deletions, and changes the list by their results: what could not be deleted comes back. */
export interface SendDeletions {
  /**
   * Deletes the files by one request, which the browser finishes also without the page. Never rejects. `onDone` is called for each
   * that is gone, or came back.
   */
  send(names: readonly string[], onDone?: () => void): Promise<Sent>
  /** The names whose deletion is under way. */
  underWay(): readonly string[]
  /** Resolves when the deletion of `name` is not under way any more. */
  ended(name: string): Promise<unknown>
}

export function createSendDeletions(
  client: Client,
  files: Pick<FileList, 'show' | 'remove'>,
): SendDeletions {
  const underWay = new Map<string, Promise<unknown>>()

  return {
    async send(names, onDone) {
      const failed: FailedDeletion[] = []
      const waiting = new Map(names.map((name) => [name, Promise.withResolvers<undefined>()]))
      for (const [name, { promise }] of waiting) underWay.set(name, promise)
      const end = (name: string, error: unknown) => {
        const ending = waiting.get(name)
        waiting.delete(name)
        if (underWay.get(name) === ending?.promise) underWay.delete(name)
        ending?.resolve(undefined)
        if (error === undefined || isHoldfastError(error, 'not-found')) files.remove(name)
        else {
          files.show([name])
          failed.push([name, error])
        }
        onDone?.()
      }
      try {
        for await (const { name, error } of resultsOf(client, names)) end(name, error)
        return { failed, isBroken: false }
      } catch (error) {
        for (const name of waiting.keys()) end(name, error)
        return { failed, isBroken: true }
      }
    },
    underWay: () => [...underWay.keys()],
    ended: async (name) => underWay.get(name),
  }
}

/** With `keepalive` from the start: some browsers break off other requests before they say that the page goes. */
async function* resultsOf(client: Client, names: readonly string[]) {
  const [name = '', ...others] = names
  if (others.length > 0) return yield* client.deleteMany(names, { keepalive: true })
  await client.delete(name, { keepalive: true })
  yield { name, error: undefined }
}
