import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { runHoldfast, useHoldfast } from '../../../packages/testing/src/holdfast.ts'
import { credentials } from '../../../packages/testing/src/site.ts'
import type { Release } from '../../release/test/use-release.ts'
import { armProgram } from './arm-program.ts'

/** Declares tests of the single executable of a release for machines with ARM, on whatever machine this is. */
export function describeArmExecutable(release: Release): void {
  describe('The single executable for machines with ARM', function () {
    this.timeout(300_000)
    const holdfast = useHoldfast()
    let program: string
    before(async () => {
      const executable = join(release.out, `holdfast-${release.version}-linux-arm64`)
      program = await armProgram(executable, await release.newFolder())
    })

    const run = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
      const options = { cwd: holdfast.site.path, env, program }
      const { code, stdout, stderr } = await runHoldfast(args, options)
      expect(code, stderr).to.equal(0)
      return stdout
    }

    it('says its version', async () => {
      expect(await run(['--version'])).to.equal(`${release.version}\n`)
    })

    it('serves, and is a client of itself', async () => {
      const server = await holdfast.start([], { program })
      const env = {
        HOME: holdfast.site.path,
        HOLDFAST_URL: server.url,
        HOLDFAST_NAME: credentials['x-auth-name'],
        HOLDFAST_PASSWORD: credentials['x-auth-password'],
      }
      const content = Buffer.alloc(9 * 1024 ** 2, 'not a whole number of chunks ')
      await writeFile(join(holdfast.site.path, 'large'), content)
      await run(['put', 'large'], env)
      await run(['get', 'large', '-o', 'copy'], env)
      expect((await readFile(join(holdfast.site.path, 'copy'))).equals(content)).to.equal(true)
      server.signal('SIGTERM')
      expect(await server.ended).to.equal(0)
    })
  })
}
