import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ContainerRuntimeClient, getContainerRuntimeClient, ImageName } from 'testcontainers'
import { packageFolder } from '../machine.ts'
import { removeAbandoned, removeOwnAtExit } from './ownership.ts'

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
