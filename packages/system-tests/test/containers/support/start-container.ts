import { until } from '@holdfast/testing'
import { findFreePort } from '@holdfast/testing'
import { ownershipLabels } from '@holdfast/testing/minio'
import { docker } from './docker.ts'
import { ownName } from './product-image.ts'

/** A server in a container, on a volume of its own with the customer of every site. */
export interface Container {
  readonly name: string
  readonly port: number
  /** What it has said so far. */
  logs(): Promise<string>
  /** Waits until it has said `text`. */
  said(text: string): Promise<void>
  /** Removes it with its volume. */
  remove(): Promise<void>
}

const labels = Object.entries(ownershipLabels).flatMap(([key, value]) => [
  '--label',
  `${key}=${value}`,
])

/** What a careful operator gives to `docker run`. */
export const hardening = ['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges']

/** Starts a server from `image` with all that can be taken from it taken, ready to answer. */
export async function startContainer(
  image: string,
  options: readonly string[] = [],
): Promise<Container> {
  const name = ownName()
  const port = await findFreePort()
  const volume = ['--volume', `${name}:/var/lib/holdfast`]
  await docker(['volume', 'create', ...labels, name])
  const run = ['run', ...labels, ...hardening, ...volume]
  const remove = async () => {
    await docker(['rm', '--force', '--volumes', name])
    await docker(['volume', 'rm', '--force', name])
  }
  try {
    const add = ['customers', 'add', 'demo', '--password-stdin']
    await docker([...run, '--rm', '--interactive', image, ...add], 'correct horse')
    const published = ['--publish', `127.0.0.1:${port}:3000`]
    await docker([...run, '--detach', '--name', name, ...published, ...options, image])
    const logs = () => docker(['logs', name])
    const said = (text: string) =>
      until(`the container says "${text}"`, async () => (await logs()).includes(text), 60_000)
    await said('holdfast listens on')
    return { name, port, logs, said, remove }
  } catch (error) {
    await remove()
    throw error
  }
}
