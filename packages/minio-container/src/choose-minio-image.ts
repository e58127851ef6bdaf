import { readFileSync } from 'node:fs'
import {
  ImageName,
  PullPolicy,
  type ContainerRuntimeClient,
  type ImagePullPolicy,
} from 'testcontainers'

/** The image that MinIO runs from. */
export interface MinioImage {
  readonly name: string
  readonly pullPolicy: ImagePullPolicy
}

/**
 * Chooses `$HOLDFAST_MINIO_IMAGE`, which the engine may have to pull, or else the image that `scripts/test` builds.
 *
 * @throws Error that says what to do, if that one has not been built.
 */
export async function chooseMinioImage({ image }: ContainerRuntimeClient): Promise<MinioImage> {
  const chosen = process.env['HOLDFAST_MINIO_IMAGE']
  if (chosen) return { name: chosen, pullPolicy: PullPolicy.defaultPolicy() }
  const name = builtImage()
  if (await image.exists(ImageName.fromString(name))) {
    // Nobody publishes this name; whoever did could run a program of theirs here.
    return { name, pullPolicy: PullPolicy.neverPull() }
  }
  throw new Error(
    `There is no image ${name}: scripts/test builds it. Or name another one in HOLDFAST_MINIO_IMAGE.`,
  )
}

function builtImage(): string {
  const version = readFileSync(new URL('../image/version', import.meta.url), 'utf8').trim()
  return `holdfast/minio:${version.replace(/^v0\.0\.0-/, '')}`
}
