import { expect } from 'chai'
import { spaceFindings } from '../../src/inspect/findings.ts'

const plenty = { bsize: 4096, blocks: 25_000_000, bavail: 10_000_000, files: 1000, ffree: 500 }

const told = (room: Partial<typeof plenty>, promised = 0) =>
  spaceFindings({ ...plenty, ...room }, promised).map(
    ({ check, mark, message }) => `${mark}: ${check}: ${message}`,
  )

describe('spaceFindings', () => {
  it('says what is free', () => {
    expect(told({})).to.deep.equal([
      'ok: free space: 41.0 GB free of 102 GB',
      'ok: free inodes: room for 500 more files and directories of 1,000',
    ])
  })

  it('warns below a tenth, and calls what is too little for an upload a problem', () => {
    expect(told({ bavail: 2_400_000 })[0]).to.equal('warning: free space: 9.83 GB free of 102 GB')
    expect(told({ bavail: 10 })[0]).to.equal('problem: free space: 41.0 kB free of 102 GB')
    expect(told({ files: 10_000, ffree: 900 })[1]).to.match(/^warning: free inodes: room for 900 /)
    expect(told({ ffree: 9 })[1]).to.match(/^problem: free inodes: room for 9 more/)
  })

  it('calls less than what should be free a problem, since the server is not ready then', () => {
    const found = (leastBytes: number) => spaceFindings(plenty, 0, leastBytes)[0]
    expect(found(41e9)).to.include({
      mark: 'problem',
      message: '41.0 GB free, less than the 41.0 GB that should be',
    })
    expect(found(40e9)).to.include({ mark: 'ok' })
  })

  it('says for each what to do', () => {
    const remedies = spaceFindings({ ...plenty, bavail: 0, ffree: 0 }, 0).map(
      (each) => each.remedies,
    )
    expect(remedies[0]?.join()).to.match(/^Make room, .* uploads get 507\.$/)
    expect(remedies[1]?.join()).to.match(/mkfs\.ext4 -i 4096$/)
  })

  it('knows file systems that make inodes as they go', () => {
    const [, inodes] = told({ files: 0, ffree: 0 })
    expect(inodes).to.equal('ok: free inodes: this file system makes them as needed')
  })

  it('adds up what customers may keep', () => {
    expect(told({}, 5e9)[2]).to.equal('ok: quotas: all together are 5.00 GB; the disk has 102 GB')
    expect(told({}, 5e12)[2]).to.equal(
      'warning: quotas: all together are 5.00 TB, and the disk has only 102 GB',
    )
  })
})
