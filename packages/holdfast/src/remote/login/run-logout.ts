import { createReport } from '../output/report.ts'
import { profilePath, removeProfile } from './profile.ts'

/** Forgets the login; resolves with the exit code. */
export async function runLogout(isJson: boolean): Promise<number> {
  const path = profilePath(process.env)
  const removed = await removeProfile(path)
  const report = createReport(isJson)
  await report.done({ profile: path, removed }, removed ? 'Logged out.' : 'There was no login.')
  return report.exitCode()
}
