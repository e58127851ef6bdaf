import { adminPortOf, describeWithDisks } from '@holdfast/testing'
import { expect } from 'chai'
import { startFaultSite } from './fault-site.ts'

const args = ['--admin-port', '0', '--min-free-space', '1']

describeWithDisks('holdfast serve --admin-port on a disk of its own', function () {
  it('turns red when it is read-only, or not mounted, says why, and is green when it is well again', async function () {
    this.timeout(90_000)
    await using site = await startFaultSite({ ownDisk: 'ext4', args })
    const admin = await adminPortOf(site.server)
    await admin.turnsGreen()
    site.disk?.remount('ro')
    expect((await admin.turnsRed())['store']).to.match(
      /^The file system is mounted read-only: EROFS/,
    )
    site.disk?.remount('rw')
    await admin.turnsGreen()
    site.disk?.unmount()
    const reasons = Object.values(await admin.turnsRed())
    expect(reasons.join()).to.include('is its file system mounted?')
    site.disk?.mount()
    await admin.turnsGreen()
    expect(await site.ask('GET', '/list')).to.equal('200 ["kept"]')
  })
})
