/** More than any error of the API has. */
const longestText = 64 * 1024

/** The text of a body; of a long one its beginning, and the rest is given up. */
export async function startOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > longestText) break
  }
  return text
}
