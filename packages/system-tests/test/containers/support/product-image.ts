import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { docker } from './docker.ts'

const root = fileURLToPath(new URL('../../../../../', import.meta.url))

/**
 * What `docker build` needs beside the Dockerfile where no registry answers: images that `scripts/test` has made to stand
 * for those of registries, unless another is named, and the network as this machine has it.
 */
export const buildOptions = [
  ['--network', 'host'],
  ['--build-arg', `BASE_IMAGE=${process.env['HOLDFAST_BASE_IMAGE'] || 'holdfast/local-base'}`],
].flat()

/** How long building may take, in milliseconds: the first time it downloads, and compiles. */
export const buildLimitMs = 600_000

let built: Promise<string> | undefined

/** Builds the image of this very tree, as the Dockerfile says; resolves to its id. What has not changed is there already. */
export function buildProductImage(): Promise<string> {
  return (built ??= build())
}

async function build(): Promise<string> {
  const output = await docker([
    'build',
    '--quiet',
    ...buildOptions,
    '--tag',
    'holdfast/tested',
    root,
  ])
  return output.trim()
}

/** A name for something of a test's own in the engine. */
export function ownName(): string {
  return `holdfast-test-${randomUUID()}`
}
