import type { IncomingMessage } from 'node:http'

/**
 * The values of the header `name`, in lower case, each as it was sent. For the few headers that must not be joined this
 * takes less time than `headersDistinct`, which Node makes of all of them.
 */
export function headerValues({ rawHeaders }: IncomingMessage, name: string): readonly string[] {
  const values: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const field = rawHeaders[index] ?? ''
    if (field.length === name.length && field.toLowerCase() === name) {
      values.push(rawHeaders[index + 1] ?? '')
    }
  }
  return values
}
