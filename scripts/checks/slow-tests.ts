/** The test files that take longest, in the order in which they begin. A hint: it says when, and not whether. */
export const slowTests: readonly string[] = [
  'packages/server/test/copy/moving-house.test.ts',
  'scripts/containers/test/test-command.test.ts',
  'scripts/release/test/installed-packages.test.ts',
  'scripts/release/test/release.test.ts',
  'packages/server/test/cluster/cluster.test.ts',
  'packages/server/test/crash/crash.test.ts',
  'scripts/examples/test/examples.test.ts',
  'packages/server/test/endurance/minio-memory.test.ts',
  'packages/server/test/black-box/minio.test.ts',
  'packages/server/test/endurance/soak.test.ts',
  'packages/store-minio/test/contract.test.ts',
  'packages/store-disk/test/contract.test.ts',
  'packages/store-minio/test/faults/passing.test.ts',
  'packages/store-minio/test/faults/persistent.test.ts',
  'packages/server/test/black-box/every-fault.test.ts',
  'packages/server/test/workers/joined-workers.test.ts',
]
