import { finding, type Finding } from '@holdfast/core'
import type { NamesMode } from '../../directory/layout.ts'

/**
 * Whether files can be named in the mode `names`, or a mode can be chosen for them, on a file system that does not keep
 * the name `unkept`, or keeps all.
 */
export function namesFinding(unkept: string | undefined, names: NamesMode | undefined): Finding {
  if (unkept === undefined) {
    return finding('ok', 'names', 'all are kept apart: case, accents, dots and blanks, 255 bytes')
  }
  const example = unkept.length > 20 ? `one of ${Buffer.byteLength(unkept)} bytes` : `"${unkept}"`
  const message = `this file system does not keep all names as they are, such as ${example}`
  if (names !== 'plain')
    return finding('ok', 'names', `${message}; they are written in a safe form`)
  const remedy =
    'Move the directory to a file system that does, such as ext4; the server refuses it here.'
  return finding('problem', 'names', message, remedy)
}
