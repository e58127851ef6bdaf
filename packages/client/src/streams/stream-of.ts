/** A stream of what `chunks` yields, one chunk at a time as it is read. To cancel it calls `cancel` and ends the iteration. */
export function streamOf(
  chunks: AsyncIterator<Uint8Array>,
  cancel: (reason: unknown) => void,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next()
        if (next.done) controller.close()
        else controller.enqueue(next.value)
      },
      async cancel(reason) {
        cancel(reason)
        await chunks.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
