import { execFileSync } from 'node:child_process'

/** `docker compose`, or where the engine's command does not know it, `docker-compose`. */
export function composeCommand(): string {
  try {
    execFileSync('docker', ['compose', 'version'], { stdio: 'ignore' })
    return 'docker compose'
  } catch {
    return 'docker-compose'
  }
}
