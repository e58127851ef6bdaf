import { execFile } from 'node:child_process'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { environmentOf } from '../../../../scripts/release/test/install-tarballs.ts'
import { packedPackages } from '../../../../scripts/release/test/packed-packages.ts'

const script = join(import.meta.dirname, '../../../../scripts/release/try-as-embedder')

describe('scripts/release/try-as-embedder', function () {
  this.timeout(240_000)

  it('gets from tarballs to an application with a store of its own that passes the contract', async () => {
    const [tarball] = await packedPackages()
    const env = { ...environmentOf(process.execPath), FORCE_COLOR: '0' }
    const run = promisify(execFile)(script, [dirname(tarball?.file ?? '')], { env })
    const { stdout } = await run.catch((error: unknown) => {
      const output = error as { stdout: string; stderr: string }
      throw new Error(`It failed:\n${output.stdout}${output.stderr}`, { cause: error })
    })
    expect(stdout).to.match(/^Installed \d\d packages\.$/m)
    expect(stdout).to.match(/^Uploaded: OK$/m)
    expect(stdout).to.match(/^Listed: \["application\.ts"\]$/m)
    expect(stdout).to.match(/^To a stranger: \{"statusCode":400,.*"No auth headers"\}$/m)
    expect(stdout).to.match(/^ +\d{3} passing/m)
    expect(stdout).not.to.match(/failing|pending/)
  })
})
