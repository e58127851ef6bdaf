import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ImageName, type ContainerRuntimeClient } from 'testcontainers'
import { packageFolder } from '../package-folder.ts'
import { prepareEngine } from './prepare-engine.ts'

/**
 * Resolves to the name of an image that the engine has: `$HOLDFAST_MINIO_IMAGE`, pulled if it has to be, or else the one
 * that `scripts/test` builds.
 *
 * @throws Error that says what to do, where there is none.
 */
export async function ensureMinioImage({ image }: ContainerRuntimeClient): Promise<string> {
  const chosen = process.env['HOLDFAST_MINIO_IMAGE']
  const name = ImageName.fromString(chosen || builtImage())
  if (await image.exists(name)) return name.string
  // The built image is not published. Whoever published one under its name could run a program here.
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

/** The image that servers are started from, for whoever starts one otherwise than by this package. */
export async function minioImage(): Promise<string> {
  return ensureMinioImage(await prepareEngine())
}

function builtImage(): string {
  const version = readFileSync(join(packageFolder, 'minio-image/version'), 'utf8').trim()
  return `holdfast/minio:${version.replace(/^v0\.0\.0-/, '')}`
}
