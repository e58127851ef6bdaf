import { getContainerRuntimeClient, type ContainerRuntimeClient } from 'testcontainers'

/**
 * Connects to the container engine that `DOCKER_HOST` names, or else to the one of this machine.
 *
 * @throws Error that says what to do, where none answers.
 */
export async function connectToEngine(): Promise<ContainerRuntimeClient> {
  // Where containers are reachable, which they are nowhere else. Left alone, the library looks for them at the engine's
  // gateway if we run in a container ourselves, and at ::1, too.
  process.env['TESTCONTAINERS_HOST_OVERRIDE'] = '127.0.0.1'
  const engine = await getContainerRuntimeClient().catch((cause: unknown) => {
    throw noAnswer('No container engine answers', cause)
  })
  const named = process.env['DOCKER_HOST']
  // The library goes on to the next engine where this one is silent, and that one has other images.
  if (named && !named.includes(addressOf(engine))) {
    throw noAnswer(`No container engine answers at ${named}, which DOCKER_HOST names`)
  }
  return engine
}

function addressOf({ container }: ContainerRuntimeClient): string {
  const { socketPath, host } = container.dockerode.modem as { socketPath?: string; host?: string }
  return socketPath ?? host ?? ''
}

function noAnswer(problem: string, cause?: unknown): Error {
  return new Error(
    `${problem}, and this test needs a real MinIO. Start one (docker info must answer), or let scripts/test do it; ` +
      'scripts/test --without-containers leaves such tests out.',
    { cause },
  )
}
