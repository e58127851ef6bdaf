import { realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { expect } from 'chai'
import { findMount, parseMounts } from '../../src/files/file-system.ts'

describe('findMount', () => {
  it('finds the file system that the tests write to', async () => {
    const mount = await findMount(await realpath(tmpdir()))
    expect(mount?.point).to.match(/^\//)
    expect(mount?.type).to.match(/^\w+/)
    expect(mount?.options).to.include('rw')
  })

  it('takes the innermost, and of several at one point the one that is seen', async () => {
    expect((await findMount('/proc/self'))?.type).to.equal('proc')
    expect((await findMount('/process'))?.type).not.to.equal('proc')
  })
})

describe('parseMounts', () => {
  it('reads point, type and both kinds of options, with blanks undone', () => {
    const line =
      '36 35 98:0 /mnt1 /mnt/two\\040words rw,noatime master:1 - ext4 /dev/root rw,errors=continue'
    expect(parseMounts(`${line}\n\n`)).to.deep.equal([
      {
        point: '/mnt/two words',
        type: 'ext4',
        options: ['rw', 'noatime', 'rw', 'errors=continue'],
        isForcedReadOnly: false,
      },
    ])
  })

  const readOnly = [
    { place: 'rw', system: 'ro,space_cache=v2', isForced: true, what: 'by the kernel' },
    { place: 'ro', system: 'ro', isForced: false, what: 'by an administrator' },
    { place: 'ro', system: 'rw', isForced: false, what: 'at this point only' },
  ]
  for (const { place, system, isForced, what } of readOnly) {
    it(`tells whether a file system was made read-only: ${what}`, () => {
      const [mount] = parseMounts(`36 35 0:40 / /mnt ${place},relatime - btrfs /dev/sda ${system}`)
      expect(mount?.isForcedReadOnly).to.equal(isForced)
    })
  }
})
