import type { AddressInfo } from 'node:net'

/** What the tour is about: where the server listens, how it was started, and who may use it. */
export interface Tour {
  address: AddressInfo
  /** How the reader started the server, for the commands that the text names. */
  command: string
  /** The password of the customer `demo`; `undefined` when only its hash is known. */
  password: string | undefined
  /** A file to upload, as the reader's shell would find it. */
  file: string
}

/** The text shown once the server listens: curl commands to paste, one a line, and what to do about the password. */
export function tourText(tour: Tour): string {
  const origin = originOf(tour.address)
  const rotate = `${shellWord(tour.command)} customers rotate demo`
  const known = tour.password !== undefined
  return [
    '',
    `Holdfast listens on ${origin}. Ctrl-C stops it. Paste into another terminal:`,
    '',
    ...(known ? [] : ["PASSWORD='the password of the customer demo'"]),
    ...commands(origin, tour.password, tour.file),
    '',
    known
      ? `A new password for demo: ${rotate}`
      : `The password of demo was shown when it was made. A new one: ${rotate}`,
    '',
  ].join('\n')
}

function commands(origin: string, password: string | undefined, file: string): string[] {
  const secret =
    password === undefined
      ? '"x-auth-password: $PASSWORD"'
      : shellWord(`x-auth-password: ${password}`)
  const curl = `curl -H 'x-auth-name: demo' -H ${secret}`
  const name = encodeURIComponent(file.slice(file.lastIndexOf('/') + 1))
  return [
    `${curl} -F ${shellWord(`file=@${formPath(file)}`)} ${shellWord(`${origin}/upload`)}`,
    `${curl} ${shellWord(`${origin}/list`)}`,
    `${curl} ${shellWord(`${origin}/serve/${name}`)}`,
    `${curl} -X DELETE ${shellWord(`${origin}/delete/${name}`)}`,
  ]
}

// A server on all interfaces is reached by the loopback address.
function originOf({ address, family, port }: AddressInfo): string {
  if (address === '0.0.0.0') return `http://127.0.0.1:${port}`
  if (address === '::') return `http://[::1]:${port}`
  return family === 'IPv6' ? `http://[${address}]:${port}` : `http://${address}:${port}`
}

// curl ends an unquoted path of -F at a comma or a semicolon.
function formPath(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `"${path.replaceAll(/["\\]/g, '\\$&')}"`
}

function shellWord(text: string): string {
  return /^[\w./:=@%-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
