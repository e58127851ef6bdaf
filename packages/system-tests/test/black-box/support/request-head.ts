/** A request up to and including the empty line; a header with several values is sent several times. */
export function requestHead(
  method: string,
  path: string,
  headers: Readonly<Record<string, string | number | readonly string[]>> = {},
): Buffer {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((each) => `${name}: ${each}`),
  )
  const head = [`${method} ${path} HTTP/1.1`, 'Host: service.test', ...lines, '', '']
  return Buffer.from(head.join('\r\n'), 'latin1')
}
