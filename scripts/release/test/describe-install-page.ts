import { expect } from 'chai'
import type { Release } from './use-release.ts'

/** Declares tests of what the commands of docs/install.md have done. */
export function describeInstallPage(release: Release): void {
  describe('docs/install.md', () => {
    it('makes tarballs and a unit whose checksums hold', () => {
      expect(release.outputOf('Tarballs'))
        .to.include(`holdfast-server-${release.version}.tgz: OK`)
        .and.include('holdfast.service: OK')
    })

    it('makes a server that answers, also after an upgrade', () => {
      expect(release.output.match(/^pong/gm)).to.have.length(2)
    })

    it('makes a command, which `npx holdfast` runs, too', () => {
      const version = `^${release.version.replaceAll('.', '\\.')}$`
      expect(release.output.match(new RegExp(version, 'gm'))).to.have.length(3)
      expect(release.outputOf('npx')).to.equal(release.version)
    })

    it('makes a server that takes files, as a user of its own', () => {
      expect(release.outputOf('server').split('\n').slice(0, 3)).to.deep.equal([
        'OK',
        'kept by holdfast holdfast, mode 750',
        'kept by holdfast holdfast, mode 640',
      ])
    })

    it('removes the server, and no file of a customer', () => {
      expect(release.outputOf('removed').split('\n').slice(0, 3)).to.deep.equal([
        'no server',
        'no program',
        'the same file',
      ])
    })

    it('gives an application packages that it can import', () => {
      expect(release.outputOf('application')).to.include('imported, and kept hello.txt')
    })
  })
}
