import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { documentedSteps } from '../../../packages/system-tests/test/docs/documented-steps.ts'
import { installedExamples } from './installed-examples.ts'
import { startExample } from './run-example.ts'

const origin = 'http://127.0.0.1:3000'

for (const name of ['koa-sessions', 'express-multer', 'node-http']) {
  describe(`The commands in examples/${name}/README.md`, function () {
    this.timeout(120_000)

    it('do what it says', async () => {
      const readme = await readFile(join(await installedExamples(), name, 'README.md'), 'utf8')
      const steps = documentedSteps(readme, (script) => /^curl /m.test(script))
      expect(steps).to.have.length.at.least(5)
      const app = await startExample(name)
      const cwd = await mkdtemp(join(tmpdir(), 'holdfast-example-reader-'))
      try {
        for (const { script, expected = '' } of steps) {
          const shell = ['-euo', 'pipefail', '-c', script.replaceAll(origin, app.url)]
          const { stdout } = await promisify(execFile)('bash', shell, { cwd })
          expect(stdout.trimEnd(), script).to.equal(expected)
        }
      } finally {
        await app.stop()
        await rm(cwd, { recursive: true })
      }
    })
  })
}
