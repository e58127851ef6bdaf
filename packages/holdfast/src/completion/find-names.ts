import { createClient } from '@holdfast/client'
import { findLogin } from '../remote/login/profile.ts'

/** Longer than this the user of a shell does not wait. */
const patienceMs = 3_000
/** What one request brings. */
const most = 1_000

/**
 * Names on the server that begin with `prefix`: all of them, or none where they are too many, since a shell would complete what only
 * some have in common. None, too, without a login, and whatever fails.
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
