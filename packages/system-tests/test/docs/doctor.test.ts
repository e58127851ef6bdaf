import { readFileSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hashPassword } from '@holdfast/passwords'
import { openDiskBlobStore } from '@holdfast/store-disk'
import { createSite, runHoldfast } from '@holdfast/testing'
import { expect } from 'chai'
import { documentedSteps } from './documented-steps.ts'

/** The name of each check; the lines of remedies have none, and differ from machine to machine. */
const checksOf = (report: string) =>
  report
    .split('\n')
    .filter((line) => /^ {2}\w/.test(line))
    .map((line) => line.slice(11, 30).trim())

describe('The report in docs/diagnose.md', () => {
  const markdown = readFileSync(new URL('../../../../docs/diagnose.md', import.meta.url), 'utf8')
  const [step, ...others] = documentedSteps(markdown, (script) => script.includes('start doctor'))

  it('has the checks that the command makes, in their order', async () => {
    expect(others).to.deep.equal([])
    const site = await createSite()
    try {
      await (await openDiskBlobStore({ directory: join(site.path, 'data') })).close()
      const customer = { name: 'alice', password: await hashPassword('secret'), quota: '50GB' }
      await writeFile(join(site.path, 'customers.yaml'), JSON.stringify({ customers: [customer] }))
      await chmod(join(site.path, 'customers.yaml'), 0o644)
      const args = (step?.script ?? '').trim().split(' ').slice(1)
      const { stdout } = await runHoldfast(args, { cwd: site.path })
      expect(checksOf(step?.expected ?? '')).to.include('one mount')
      expect(checksOf(step?.expected ?? '')).to.deep.equal(checksOf(stdout))
      expect(step?.expected).to.match(/^ {2}warning {2}customers file /m)
    } finally {
      await site.remove()
    }
  })
})
