import { createClient } from '@holdfast/client'
import { findLogin } from '../remote/login/profile.ts'

/** Users of a shell do not wait longer. */
const patienceMs = 3_000
/** The most names in one response. */
const most = 1_000

/**
 * Names on the server that begin with `prefix`: all of them, or none if they are too many, since a shell would then complete what only
 * some have in common. Also none without a login, or after any error.
 */
export async function findNames(prefix: string): Promise<readonly string[]> {
  const names: string[] = []
  try {
    const client = createClient({ ...(await findLogin(process.env)), retries: 0 })
    const signal = AbortSignal.timeout(patienceMs)
    for await (const name of client.list({ prefix, signal })) {
      if (names.push(name) === most) return []
    }
    return names
  } catch {
    return []
  }
}
