/**
 * Writes to standard output and waits for it. Rejects where it cannot be written: nobody reads it any more (`EPIPE`),
 * or it goes to a disk that is full. Without this, Node would end the process with a stack.
 */
export async function print(text: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>()
  // Stays when it has been written, too: the event may come behind the callback.
  process.stdout.once('error', reject)
  process.stdout.write(text, (error) => (error ? reject(error) : resolve(undefined)))
  await promise
}
