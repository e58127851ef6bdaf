import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findFreePort } from '@holdfast/testing'
import { describeWithContainers, ownershipLabels } from '@holdfast/testing/minio'
import { until } from '@holdfast/testing'
import {
  printReadings,
  readDashboard,
  type Reading,
  startPrometheus,
} from '@holdfast/testing/prometheus'
import { expect } from 'chai'
import { documentedSteps } from '../docs/documented-steps.ts'
import { composeCommand } from './support/compose-command.ts'
import { docker } from './support/docker.ts'
import { mcOutputs, mcScript } from './support/mc-script.ts'
import { createComposeSite, type ComposeSite } from './support/site-of-compose.ts'
import { buildLimitMs, buildOptions, buildProductImage, ownName } from './support/product-image.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const patienceMs = 90_000

describeWithContainers('A new operator, with the commands of docs/containers.md', (suite) => {
  suite.timeout(2 * patienceMs)
  const markdown = readFileSync(`${root}docs/containers.md`, 'utf8')
  const compose = composeCommand()
  const own = ownName()
  const labels = Object.entries(ownershipLabels).map(([key, value]) => `--label ${key}=${value}`)
  let port: number
  let site: ComposeSite

  before(async function () {
    this.timeout(buildLimitMs)
    site = await createComposeSite(await buildProductImage())
    port = await findFreePort()
    await docker(['volume', 'create', ...labels.join(' ').split(' '), own])
  })
  after(async () => {
    await run(`${compose} --profile cluster down --volumes --timeout 5`)
    await docker(['rm', '--force', '--volumes', own])
    await docker(['volume', 'rm', '--force', own])
    await docker(['rmi', own])
    await site.remove()
  })

  const run = async (script: string) => {
    const env = { ...process.env, DOCKER_BUILDKIT: '0' }
    const options = { cwd: site.path, env }
    return promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], options)
  }

  /** With names and ports of its own; what else a command says, stays. */
  const atHome = (script: string) =>
    (/^docker (?!compose)/m.test(script) ? script.replaceAll(/(?<!\/)\bholdfast\b/g, own) : script)
      .replaceAll('docker compose', compose)
      .replaceAll('docker run', `docker run ${labels.join(' ')}`)
      .replaceAll(/docker build (.*) \.$/gm, `docker build ${buildOptions.join(' ')} $1 ${root}`)
      .replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`)
      .replaceAll(/https:\/\/localhost(?<cluster>:8443)?/g, (_, cluster?: string) => {
        return `https://localhost:${cluster === undefined ? site.port : site.clusterPort}`
      })

  // One after the other, as a reader would paste them.
  for (const { line, script, expected } of documentedSteps(markdown, () => true)) {
    it(`line ${line}: ${script.split('\n')[0] ?? ''}`, async () => {
      let { stdout: printed } = await run(atHome(script))
      if (expected === undefined) return
      await until(
        () => `it prints ${expected}; it printed ${printed}`,
        async () => {
          if (printed.trim() !== expected) printed = (await run(atHome(script))).stdout
          return printed.trim() === expected
        },
        patienceMs,
      )
    })
  }

  it('has a holdfast whose keys of MinIO open its bucket, and nothing else', async () => {
    const denied = /Access Denied/
    const expected: Readonly<Record<string, RegExp>> = {
      'mb minio-root/other': /created/,
      'ls holdfast': /^\S+ \S+ \S+ +0B files\/$/,
      'cat holdfast/files/alice/notes.txt': /^Hello, holdfast$/,
      'ls holdfast/other': denied,
      'mb holdfast/third': denied,
      'admin user list holdfast': denied,
      'admin user add holdfast eve correct-horse-battery': denied,
    }
    const service = `${compose} run --rm --no-deps -T --entrypoint sh minio-setup`
    const script = mcScript(Object.keys(expected))
    const { stdout } = await run(`${service} -eu <<'END'\n${script}\nEND`)
    const printed = mcOutputs(stdout)
    expect(printed).to.have.length(Object.keys(expected).length)
    for (const [index, [command, pattern]] of Object.entries(expected).entries()) {
      expect(printed[index], command).to.match(pattern)
    }
  })

  it('has a holdfast that deletes files as well', async () => {
    const command = 'curl --cacert secrets/tls.crt -H @alice-new.auth -X DELETE'
    const { stdout } = await run(`${command} https://localhost:${site.port}/delete/notes.txt`)
    expect(stdout).to.equal('OK')
  })

  it('reads on the dashboard that the server is ready, and at work', async () => {
    const prometheus = await startPrometheus(site.metrics)
    try {
      let readings: readonly Reading[] = []
      const valuesOf = (panel: string) =>
        Object.values(readings.find(({ title }) => title === panel)?.values ?? {})
      await until(
        () => `the dashboard shows requests; it shows ${printReadings(readings)}`,
        async () => {
          await run(
            `curl --cacert secrets/tls.crt -H @alice-new.auth https://localhost:${site.port}/list`,
          )
          readings = await readDashboard(prometheus.url)
          return valuesOf('Requests a second').some((rate) => rate > 0)
        },
        patienceMs,
      )
      expect(valuesOf('Ready')).to.deep.equal([1])
    } finally {
      await prometheus.stop()
    }
  })
})
