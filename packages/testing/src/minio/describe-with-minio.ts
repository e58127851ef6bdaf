import { appendFileSync } from 'node:fs'
import { createRunningMinio, type RunningMinio, startMinio } from './start-minio.ts'
import { findMemoryDrive } from './engine.ts'

const startLimitMs = 120_000

let shared: Promise<SharedMinio> | undefined
let isStoppedAtEnd = false

/**
 * Declares a mocha suite whose tests use a real MinIO:
 *
 *     describeWithMinio('openMinioBlobStore', (minio) => {
 *       it('keeps a file', async () => {
 *         const { endpoint, accessKey, secretKey, region } = minio()
 *         const bucket = await minio().createBucket()
 *         …
 *
 * All suites of a mocha process share one server. It is the one whose endpoint `HOLDFAST_TEST_MINIO` names, which `scripts/test` starts for
 * all processes; otherwise it is started when the first suite begins, and stopped after the last test of all. Each test makes its own
 * bucket. Call `minio()` in tests and hooks, not in the body. If no container engine answers, the suites fail with a remedy. They are left
 * out as those of {@link describeWithContainers} are.
 */
export function describeWithMinio(title: string, body: (minio: () => RunningMinio) => void): void {
  describeWithContainers(title, (suite) => {
    let running: RunningMinio | undefined
    suite.beforeAll('starts MinIO', async function () {
      this.timeout(startLimitMs)
      running = await (shared ??= findShared())
    })
    stopAtEnd(suite)
    body(() => {
      if (running) return running
      throw new Error(`MinIO runs during the tests of "${title}" only, not while they are declared`)
    })
  })
}

/**
 * Declares a mocha suite that starts containers of its own, by `startMinio` or `startMinioCluster`.
 *
 * `scripts/test --without-containers` leaves it out: if the environment variable `HOLDFAST_WITHOUT_CONTAINERS` names a file, this declares
 * nothing, and appends the title to that file as a line.
 */
export function describeWithContainers(title: string, body: (suite: Mocha.Suite) => void): void {
  const leftOut = process.env['HOLDFAST_WITHOUT_CONTAINERS']
  if (leftOut) return appendFileSync(leftOut, `${title}\n`)
  describe(title, function () {
    body(this)
  })
}

interface SharedMinio extends RunningMinio {
  stop(): Promise<void>
}

async function findShared(): Promise<SharedMinio> {
  const endpoint = process.env['HOLDFAST_TEST_MINIO']
  if (!endpoint) return startMinio({ driveMiB: await findMemoryDrive() })
  const minio = createRunningMinio(endpoint)
  return { ...minio, stop: async () => minio.client.destroy() }
}

// On the root suite, wherever this suite is declared: other files use the server, too.
function stopAtEnd(suite: Mocha.Suite): void {
  if (isStoppedAtEnd) return
  isStoppedAtEnd = true
  let root = suite
  while (root.parent) root = root.parent
  root.afterAll('stops MinIO', async function () {
    this.timeout(startLimitMs)
    const started = await shared?.catch(() => undefined)
    await started?.stop()
  })
}
