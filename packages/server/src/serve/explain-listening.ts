import { UsageError } from '../cli/usage-error.ts'

const remedies: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'another program listens there. Stop it, or choose another --port (0 takes any free one)',
  EACCES: 'this user may not listen there. Choose a --port from 1024, or allow it to this program',
  EADDRNOTAVAIL: 'this machine does not have the address. Choose another --host',
  ENOTFOUND: 'the name is not known. Choose another --host',
}

/** Why the server cannot listen, with the remedy; the error itself where that is not known. */
export function explainListening(
  error: unknown,
  { host, port }: { host: string; port: number },
): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const remedy = remedies[code]
  if (remedy === undefined) return error
  return new UsageError(`Cannot listen on ${host} port ${port}: ${remedy}.`)
}
