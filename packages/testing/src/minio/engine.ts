import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawn } from 'node:child_process'
import { hostname } from 'node:os'
import { type ContainerRuntimeClient, getContainerRuntimeClient, ImageName } from 'testcontainers'
import { packageFolder } from '../machine.ts'

let prepared: Promise<ContainerRuntimeClient> | undefined

/** Connects to the engine, once. Removes what earlier processes have left there, and removes this one's own things when it ends. */
export function prepareEngine(): Promise<ContainerRuntimeClient> {
  return (prepared ??= connectAndTidy())
}

async function connectAndTidy(): Promise<ContainerRuntimeClient> {
  const engine = await connectToEngine()
  await removeAbandoned(engine)
  removeOwnAtExit()
  return engine
}

/**
 * Connects to the container engine that `DOCKER_HOST` names, or otherwise to that of this machine.
 *
 * @throws Error that says what to do, if none answers.
 */
export async function connectToEngine(): Promise<ContainerRuntimeClient> {
  // Containers are reachable only here. By default, the library looks for them at the engine's gateway if we run in a container ourselves,
  // and also at ::1.
  process.env['TESTCONTAINERS_HOST_OVERRIDE'] = '127.0.0.1'
  const engine = await getContainerRuntimeClient().catch((cause: unknown) => {
    throw noAnswer('No container engine answers', cause)
  })
  const named = process.env['DOCKER_HOST']
  // If this engine does not answer, the library tries the next one, which has other images.
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

/**
 * Resolves with the name of an image that the engine has: `$HOLDFAST_MINIO_IMAGE`, which is pulled if needed, or otherwise the one that
 * `scripts/test` builds.
 *
 * @throws Error that says what to do, if there is none.
 */
export async function ensureMinioImage({ image }: ContainerRuntimeClient): Promise<string> {
  const chosen = process.env['HOLDFAST_MINIO_IMAGE']
  const name = ImageName.fromString(chosen || builtImage())
  if (await image.exists(name)) return name.string
  // The built image is not published. If it were pulled, anyone could publish a program under its name and have it run here.
  if (!chosen) {
    throw new Error(
      `There is no image ${name.string}: scripts/test builds it. Or name another one in HOLDFAST_MINIO_IMAGE.`,
    )
  }
  await image.pull(name).catch((cause: unknown) => {
    const message = `The image ${chosen} of HOLDFAST_MINIO_IMAGE is not there and cannot be pulled.`
    throw new Error(message, { cause })
  })
  return name.string
}

/** The image for callers that start servers without this package. */
export async function minioImage(): Promise<string> {
  return ensureMinioImage(await prepareEngine())
}

function builtImage(): string {
  const version = readFileSync(join(packageFolder, 'minio-image/version'), 'utf8').trim()
  return `holdfast/minio:${version.replace(/^v0\.0\.0-/, '')}`
}

/** More than all tests of a run store in the MinIO that they share, some 5.5 GiB. */
const neededMiB = 7168

/**
 * The size in MiB of a memory drive for a shared MinIO that is never killed: half of the engine's memory. `undefined`, for the engine's
 * disk, if that is less than all tests of a run need.
 *
 * In memory, requests take a third less of the processor time, and wait for no disk.
 */
export async function findMemoryDrive(): Promise<number | undefined> {
  const { container } = await prepareEngine()
  const { MemTotal: bytes } = (await container.dockerode.info()) as { readonly MemTotal: number }
  const sizeMiB = Math.floor(bytes / 2 / 1024 ** 2)
  return sizeMiB >= neededMiB ? sizeMiB : undefined
}

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
