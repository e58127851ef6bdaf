import { expect } from 'chai'
import { fileSystemFinding } from '../../src/inspect/findings.ts'

const on = (type: string, options: readonly string[] = ['rw'], isForcedReadOnly = false) =>
  fileSystemFinding({ type, point: '/srv', options, isForcedReadOnly }, "/srv/o'data")

describe('fileSystemFinding', () => {
  for (const type of ['ext4', 'xfs', 'btrfs', 'zfs', 'apfs', 'bcachefs']) {
    it(`is content with ${type}`, () => {
      expect(on(type)).to.deep.equal({
        check: 'file system',
        mark: 'ok',
        message: `${type}, mounted at /srv`,
        remedies: [],
      })
    })
  }

  const others = [
    ['tmpfs', 'problem', 'keeps files in memory; all are lost when the machine goes off', /disk/],
    ['vfat', 'problem', 'has no hard links, which holdfast needs', /ext4/],
    ['overlay', 'warning', 'is the inside of a container', /-v holdfast:'\/srv\/o'\\''data'/],
    ['nfs4', 'warning', 'is kept by another machine', /exportfs -v/],
    ['cifs', 'warning', 'is a share of another machine', /disk/],
    ['fuse.sshfs', 'warning', 'goes through another program', /disk/],
    ['virtiofs', 'warning', 'goes through another program', /disk/],
  ] as const
  for (const [type, mark, message, remedy] of others) {
    it(`warns of ${type}, and says what to do`, () => {
      const found = on(type)
      expect(found.mark).to.equal(mark)
      expect(found.message).to.include(`${type}, mounted at /srv, ${message}`)
      expect(found.remedies.join()).to.match(remedy)
    })
  }

  it('reports a mount that may lose writes', () => {
    expect(on('nfs', ['rw', 'soft']).message).to.match(
      /; mounted "soft", writes can be lost when the server does not answer$/,
    )
  })

  it('reports one that can only be read', () => {
    const { mark, message, remedies } = on('ext4', ['ro'])
    expect([mark, message]).to.deep.equal(['problem', 'ext4, mounted at /srv, can only be read'])
    expect(remedies).to.deep.equal(['mount -o remount,rw /srv'])
  })

  it('reports one that the kernel has made read-only', () => {
    const { mark, message, remedies } = on('btrfs', ['rw', 'ro'], true)
    expect(mark).to.equal('problem')
    expect(message).to.include('btrfs, mounted at /srv, was made read-only by the kernel')
    expect(remedies.join()).to.include('dmesg')
  })

  it('reports one whose syncs do not reach the disk', () => {
    for (const option of ['nobarrier', 'barrier=0', 'barrier=none']) {
      const { mark, message } = on('ext4', ['rw', option])
      expect(mark).to.equal('problem')
      expect(message).to.include(`${option}; a power cut can take files that were OK`)
    }
  })

  it('says that it does not know', () => {
    const { mark, message } = fileSystemFinding(undefined, '/srv')
    expect([mark, message]).to.deep.equal([
      'skipped',
      'this operating system does not report its kind',
    ])
  })
})
