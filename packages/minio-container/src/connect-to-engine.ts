import { getContainerRuntimeClient, type ContainerRuntimeClient } from 'testcontainers'

/**
 * Connects to the container engine of this machine, honouring `DOCKER_HOST`.
 *
 * @throws Error that says what to do, where none answers.
 */
export async function connectToEngine(): Promise<ContainerRuntimeClient> {
  try {
    return await getContainerRuntimeClient()
  } catch (cause) {
    throw new Error(
      'No container engine answers, and this test needs a real MinIO. Start one (docker info must answer), or let ' +
        'scripts/test do it; scripts/test --without-containers leaves such tests out.',
      { cause },
    )
  }
}
