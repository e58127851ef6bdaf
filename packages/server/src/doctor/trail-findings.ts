import { finding, type Finding } from '@holdfast/core'
import { checkAppendable } from '../audit/appendable.ts'
import { explainTrail } from '../audit/explain-trail.ts'
import type { Config } from '../config/resolve-config.ts'

/**
 * Whether the audit trail can be written, if there is to be one.
 *
 * @throws SetupError that names the file and the remedy
 */
export async function* trailFindings({ 'audit-log': path }: Config): AsyncGenerator<Finding> {
  if (path === undefined) return
  await checkAppendable(path).catch((error: unknown) => {
    throw explainTrail(error, path)
  })
  yield finding('ok', 'audit trail', `${path} can be written`)
}
