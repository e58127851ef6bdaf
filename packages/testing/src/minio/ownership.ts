import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import type { ContainerRuntimeClient } from 'testcontainers'

const label = 'holdfast.owner'

/** Labels for all that this process makes in the engine: they identify what must be removed after the process has ended. */
export const ownershipLabels: Readonly<Record<string, string>> = {
  [label]: `${process.pid}@${hostname()}`,
}

/** Removes the containers, networks and volumes that killed processes of this machine have left. */
export async function removeAbandoned({ container }: ContainerRuntimeClient): Promise<void> {
  const { dockerode } = container
  const filters = { label: [label] }
  const containers = await dockerode.listContainers({ all: true, filters })
  for (const { Id } of containers.filter(isAbandoned)) {
    await ignoringMissing(dockerode.getContainer(Id).remove({ force: true, v: true }))
  }
  const networks = await dockerode.listNetworks({ filters })
  for (const { Id } of networks.filter(isAbandoned)) {
    await ignoringMissing(dockerode.getNetwork(Id).remove())
  }
  const { Volumes: volumes } = await dockerode.listVolumes({ filters })
  for (const { Name } of volumes.filter(isAbandoned)) {
    await ignoringMissing(dockerode.getVolume(Name).remove())
  }
}

/** When this process ends, for example by an exception or Ctrl-C, removes what it has made and not removed before. */
export function removeOwnAtExit(): void {
  process.once('exit', () => {
    const own = `label=${label}=${ownershipLabels[label] ?? ''}`
    const command = `docker ps -aq --filter ${own} | xargs -r docker rm -fv; docker network prune -f --filter ${own}; docker volume ls -q --filter ${own} | xargs -r docker volume rm`
    // Detached, since an exit handler cannot wait. If this fails, the next process removes what is left.
    spawn('sh', ['-c', command], { detached: true, stdio: 'ignore' }).unref()
  })
}

interface Labelled {
  readonly Labels?: Readonly<Record<string, string>> | undefined
}

function isAbandoned({ Labels }: Labelled): boolean {
  const [pid, host] = (Labels?.[label] ?? '').split('@')
  // A process id of another machine, or of a container that shares the engine, means nothing here.
  return host === hostname() && !isRunning(Number(pid))
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Whether the process has ended, but its parent has not reaped it: until then it keeps its id. */
function isZombie(pid: number): boolean {
  try {
    // The state follows the name, which may contain parentheses itself.
    const [state] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1) ?? ''
    return state === 'Z' || state === 'X'
  } catch {
    // It has just ended, or the system has no such files.
    return false
  }
}

/** Awaits a removal; succeeds, too, if the thing is gone already. */
export async function ignoringMissing(removal: Promise<unknown>): Promise<void> {
  // 404: gone. 409: another process is removing it.
  await removal.catch((error: unknown) => {
    const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined
    if (status !== 404 && status !== 409) throw error
  })
}
