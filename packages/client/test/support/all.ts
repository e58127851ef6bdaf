/** What an iterable yields. (`Array.fromAsync` is in no edition of ECMAScript that the repository is compiled for.) */
export async function all<T>(iterable: AsyncIterable<T>): Promise<readonly T[]> {
  const values: T[] = []
  for await (const value of iterable) values.push(value)
  return values
}
