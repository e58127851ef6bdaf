import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A server that runs from tarballs. */
export interface InstalledServer {
  readonly url: string
  stop(): Promise<void>
}

/** Starts `npx holdfast serve` on a free port, in a folder where it is installed; resolves when it listens. */
export async function startInstalledServer(
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<InstalledServer> {
  const child = spawn('npx', ['holdfast', 'serve', '--port', '0'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    // A group of its own: npm does not pass signals on in all its versions.
    detached: true,
  })
  const closed = once(child, 'close')
  let output = ''
  for await (const line of createInterface(child.stdout)) {
    output += `${line}\n`
    const { url, msg } = JSON.parse(line) as { url?: string; msg?: string }
    if (url === undefined || msg?.startsWith('holdfast listens on ') !== true) continue
    return {
      url,
      stop: async () => {
        process.kill(-(child.pid ?? 0), 'SIGTERM')
        await closed
      },
    }
  }
  throw new Error(`npx holdfast serve ended: ${output}`)
}
