import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { debianFile } from '../debian-texts.ts'
import { publishedPackages } from '../pack-packages.ts'
import type { Release } from './use-release.ts'

const root = join(import.meta.dirname, '../../..')
const run = promisify(execFile)

/** Declares tests of the files of a release but the bills of materials and the tarballs. */
export function describeReleaseFiles(release: Release): void {
  describe('scripts/release/run', function () {
    this.timeout(120_000)

    it('writes tarballs, executables, Debian packages, release notes, bills of materials and checksums', async () => {
      const names = publishedPackages(root).map((name) => name.replace('@', '').replace('/', '-'))
      expect((await readdir(release.out)).sort()).to.deep.equal(
        [
          'RELEASE-NOTES.md',
          'SHA256SUMS',
          `holdfast-${release.version}.cdx.json`,
          `holdfast-${release.version}-linux.cdx.json`,
          `holdfast-${release.version}-linux-licenses.txt`,
          ...['x64', 'arm64'].map((arch) => `holdfast-${release.version}-linux-${arch}`),
          ...['x64', 'arm64'].map((arch) => debianFile({ version: release.version, arch })),
          ...names.map((name) => `${name}-${release.version}.tgz`),
          'holdfast.service',
        ].sort(),
      )
      expect(release.outputOf('folder')).to.equal(release.version)
      const notes = await readFile(join(release.out, 'RELEASE-NOTES.md'), 'utf8')
      expect(notes).to.equal(`# holdfast ${release.version}\n\n- Tried\n`)
    })

    it('writes checksums that hold, of every file', async () => {
      const { stdout } = await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], {
        cwd: release.out,
      })
      const others = (await readdir(release.out)).filter((name) => name !== 'SHA256SUMS').sort()
      expect(stdout).to.equal(others.map((name) => `${name}: OK\n`).join(''))
    })

    it('writes the licences of what is in the executables', async () => {
      const text = await readFile(
        join(release.out, `holdfast-${release.version}-linux-licenses.txt`),
        'utf8',
      )
      const titles = [...text.matchAll(/^== (\S+) \S+ \((.*)\)$/gm)].map(([, name]) => name)
      expect(titles).to.include.members([
        'koa',
        'pino',
        'yargs',
        'yaml',
        '@aws-sdk/client-s3',
        'preact',
      ])
      expect(text).to.match(/^== koa-compose [^]{1,200}Permission is hereby granted/m)
      expect(text).to.include('Node.js is licensed for use as follows').and.include('OpenSSL')
    })

    it('makes an executable that runs, in the package for Debian, too', async () => {
      const executable = join(release.out, `holdfast-${release.version}-linux-${process.arch}`)
      expect((await run(executable, ['--version'])).stdout).to.equal(`${release.version}\n`)
      const unpacked = await release.newFolder()
      const file = join(release.out, debianFile({ version: release.version, arch: process.arch }))
      await run('dpkg-deb', ['--extract', file, unpacked])
      await run('cmp', [executable, join(unpacked, 'usr/bin/holdfast')])
      const manual = await run('zcat', [join(unpacked, 'usr/share/man/man1/holdfast.1.gz')])
      expect(manual.stdout).to.match(/^\.TH /m)
    })

    it('makes an executable for machines with ARM', async () => {
      const executable = await readFile(
        join(release.out, `holdfast-${release.version}-linux-arm64`),
      )
      expect(executable.subarray(0, 4).toString('latin1')).to.equal('\x7fELF')
      // EM_AARCH64, of the ELF header's e_machine.
      expect(executable.readUInt16LE(18)).to.equal(183)
      // What Node.js looks for: that there is a script, the note with it, and in there the page and the version.
      const inside = [
        ':1',
        'NODE_SEA_BLOB\0',
        'holdfast/dist/page/index.html',
        `"version": "${release.version}"`,
      ]
      const [fuse = '', ...others] = inside
      expect(executable.includes(`NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2${fuse}`)).to.equal(
        true,
      )
      for (const text of others) expect(executable.includes(text), text).to.equal(true)
    })

    it('refuses to do it again', async () => {
      const { version, repository, out } = release
      const { code, stderr } = await repository.release(version, '--out', out)
      expect({ code, stderr }).to.deep.equal({
        code: 1,
        stderr: `release: ${out} is there already: remove it, or name another with --out.\n`,
      })
    })

    it('refuses with every reason', async () => {
      await writeFile(join(release.repository.folder, 'left.txt'), '')
      const { code, stdout, stderr } = await release.repository.release(
        '9.9.0',
        '--out',
        release.out,
      )
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' })
      expect(stderr.split('\n')).to.have.length(5)
      expect(stderr).to.match(/^release: These are not committed: left\.txt\.$/m)
      expect(stderr).to.match(
        /^release: These have another version: package\.json \(9\.8\.7-rc\.1\), /m,
      )
      expect(stderr).to.match(/^release: CHANGELOG\.md has no section "## 9\.9\.0 - DATE"\.$/m)
      expect(stderr).to.include(`release: ${release.out} is there already: `)
    })
  })
}
