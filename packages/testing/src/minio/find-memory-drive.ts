import { prepareEngine } from './prepare-engine.ts'

/** More than all tests of a run leave in the MinIO that they share, which is some 5.5 GiB. */
const neededMiB = 7168

/**
 * The size of a drive in memory for a MinIO that is shared and never killed, in MiB: half of the engine's memory.
 * `undefined`, which is the engine's disk, where that is less than all tests of a run need.
 *
 * Requests cost MinIO a third less of the processor's time there, and wait for no disk.
 */
export async function findMemoryDrive(): Promise<number | undefined> {
  const { container } = await prepareEngine()
  const { MemTotal: bytes } = (await container.dockerode.info()) as { readonly MemTotal: number }
  const sizeMiB = Math.floor(bytes / 2 / 1024 ** 2)
  return sizeMiB >= neededMiB ? sizeMiB : undefined
}
