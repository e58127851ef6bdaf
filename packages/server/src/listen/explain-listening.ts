import { UsageError } from '../config/usage-error.ts'

/** Where to listen. */
export interface ListeningPlace {
  readonly host: string
  readonly port: number
  /** What the settings for the two begin with. Default: nothing. */
  readonly prefix?: 'admin-'
}

const remedies: Readonly<Record<string, (prefix: string) => string>> = {
  EADDRINUSE: (prefix) =>
    `another program listens there. Stop it, or choose another --${prefix}port (0 takes any free one)`,
  EACCES: (prefix) =>
    `this user may not listen there. Choose a --${prefix}port from 1024, or allow it to this program`,
  EADDRNOTAVAIL: (prefix) =>
    `this machine does not have the address. Choose another --${prefix}host`,
  ENOTFOUND: (prefix) => `the name is not known. Choose another --${prefix}host`,
}

/** Why the server cannot listen, with the remedy; the error itself where that is not known. */
export function explainListening(error: unknown, { host, port, prefix }: ListeningPlace): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const remedy = remedies[code]?.(prefix ?? '')
  if (remedy === undefined) return error
  return new UsageError(`Cannot listen on ${host} port ${port}: ${remedy}.`)
}
