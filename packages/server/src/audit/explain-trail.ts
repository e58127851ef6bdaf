import { SetupError } from '@holdfast/core'
import { describeDenial } from '@holdfast/credentials-file'

const remedies: Readonly<Record<string, string>> = {
  EACCES: 'give that user write permission, or choose another --audit-log',
  EROFS: 'choose another --audit-log, since the file system is mounted read-only',
  ENOENT: 'make its directory first, or choose another --audit-log',
  EISDIR: 'name a file in that directory',
  ENXIO: 'start the reader of that pipe first, or choose another --audit-log if it is a socket',
}

/** Why the audit trail cannot be written to the file `path`, with the remedy. */
export function explainTrail(error: unknown, path: string): unknown {
  if (!(error instanceof Error)) return error
  const code = 'code' in error ? String(error.code) : ''
  const remedy = remedies[code] ?? 'choose another --audit-log'
  const reason = describeDenial(error) ?? `uid ${process.getuid?.() ?? '?'}: ${error.message}`
  return new SetupError(`The audit trail ${path} cannot be written (${reason})`, [`${remedy}.`])
}
