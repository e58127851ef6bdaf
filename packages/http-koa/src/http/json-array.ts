/** In characters; a write for each name would cost more than the name. */
const blockSize = 16 * 1024

/** `first` and `rest` as the text of one JSON array, in blocks. */
export async function* jsonArray(
  first: string | undefined,
  rest: AsyncIterable<string>,
): AsyncIterable<string> {
  if (first === undefined) {
    yield '[]'
    return
  }
  let block = `[${JSON.stringify(first)}`
  for await (const item of rest) {
    block += `,${JSON.stringify(item)}`
    if (block.length < blockSize) continue
    yield block
    block = ''
  }
  yield `${block}]`
}
