/** What `promise` rejects with, provided that it is an error; throws if it resolves. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise
  } catch (error) {
    if (error instanceof Error) return error
    throw new Error(`Rejected with ${typeof error}, which is no error`, { cause: error })
  }
  throw new Error('Resolved where it should have rejected')
}
