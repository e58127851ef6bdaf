/** In characters; a write for each name would cost more than the name. */
const blockSize = 16 * 1024

/** `items` as the text of one JSON array, in blocks; where there are none, what `whenEmpty` says. */
export async function* jsonArray(
  items: AsyncIterable<string>,
  whenEmpty: () => string,
): AsyncIterable<string> {
  let isEmpty = true
  let block = ''
  for await (const item of items) {
    block += (isEmpty ? '[' : ',') + JSON.stringify(item)
    isEmpty = false
    if (block.length < blockSize) continue
    yield block
    block = ''
  }
  yield isEmpty ? whenEmpty() : `${block}]`
}
