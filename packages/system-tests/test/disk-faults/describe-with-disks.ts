import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeSmallDisk } from './small-disk.ts'

/**
 * Declares a mocha suite that mounts disks. Where that is not allowed, its tests fail with a remedy, and
 * `scripts/test --without-containers` leaves it out, as it does with suites of containers.
 */
export function describeWithDisks(title: string, body: () => void): void {
  const leftOut = process.env['HOLDFAST_WITHOUT_CONTAINERS']
  if (leftOut && !canMount()) return appendFileSync(leftOut, `${title}\n`)
  describe(title, body)
}

function canMount(): boolean {
  const place = mkdtempSync(join(tmpdir(), 'holdfast-disk-'))
  try {
    makeSmallDisk(join(place, 'disk'), 'ext4').remove()
    return true
  } catch {
    return false
  } finally {
    rmSync(place, { recursive: true })
  }
}
