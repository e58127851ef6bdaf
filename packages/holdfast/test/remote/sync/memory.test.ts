import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { holdfastProgram } from '@holdfast/testing'
import { expect } from 'chai'
import { useSyncSite } from './support/sync-site.ts'

const files = 30_000
/** Each entry as an object with all that is known of it makes 86. */
const allowedMiB = 50

/** Has a process say in the end how much memory it had at the most. */
const sayPeak = `
  import { readFileSync, writeSync } from 'node:fs'
  process.on('exit', () => writeSync(2, /VmHWM.*/.exec(readFileSync('/proc/self/status', 'utf8'))[0]))`

describe('The memory of holdfast sync', function () {
  this.timeout(240_000)
  const site = useSyncSite()

  const run = async () => {
    const preload = `data:text/javascript,${encodeURIComponent(sayPeak)}`
    const args = ['--import', preload, holdfastProgram, 'sync', 'directory', '--dry-run']
    const child = spawn(process.execPath, args, {
      cwd: site.path,
      env: { ...process.env, ...site.environment },
    })
    const [stdout, stderr] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ])
    const [, peak] = /VmHWM:\s+(\d+) kB$/.exec(stderr) ?? []
    return { peakMiB: Number(peak) / 1024, summary: stdout.slice(stdout.lastIndexOf('Would')) }
  }

  it('hardly grows with the number of files', async () => {
    await site.write('first', '')
    const few = await run()
    for (let at = 1; at < files; at++) await site.write(`file number ${at}.txt`, '')
    const many = await run()
    expect(many.summary).to.equal(`Would send ${files} files, 0 B; 0 unchanged.\n`)
    const growth = many.peakMiB - few.peakMiB
    expect(growth, `MiB beyond ${few.peakMiB}`).to.be.within(-10, allowedMiB)
  })
})
