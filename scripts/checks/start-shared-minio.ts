import { leftOutSuites } from './left-out-suites.ts'
import { testNeeds } from './test-needs.ts'

/**
 * Starts a MinIO for the test files, where one of them needs containers, and names it in `HOLDFAST_TEST_MINIO`, so that
 * not each of their processes starts one. The function returned ends it. Where it does not start, the tests tell.
 */
export async function startSharedMinio(
  root: string,
  files: readonly string[],
): Promise<() => Promise<void>> {
  const isNeeded = files.length > 0 && testNeeds(root, files).includes('containers')
  if (!isNeeded || leftOutSuites() !== undefined) return () => Promise.resolve()
  const { startMinio } = await import('../../packages/testing/src/minio/start-minio.ts')
  const { findMemoryDrive } = await import('../../packages/testing/src/minio/engine.ts')
  const start = async () => startMinio({ driveMiB: await findMemoryDrive() })
  const minio = await start().catch(() => undefined)
  if (minio) process.env['HOLDFAST_TEST_MINIO'] = minio.endpoint
  return async () => minio?.stop()
}
