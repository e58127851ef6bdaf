import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { findFreePort } from '../../../packages/testing/src/machine.ts'
import { debianFile } from '../debian-texts.ts'
import { makeDebianPackage } from '../make-debian-package.ts'
import { runOnCopyOfMachine } from './run-on-copy-of-machine.ts'
import type { Release } from './use-release.ts'

const run = promisify(execFile)

/** Declares tests of the Debian package of a release for this machine, which they install on a copy of it. */
export function describeDebianPackage(release: Release): void {
  describe('The Debian package', () => {
    const arch = process.arch
    let name: string
    let file: string

    before(() => {
      name = debianFile({ version: release.version, arch })
      file = join(release.out, name)
    })

    it('has the same bytes each time', async function () {
      this.timeout(120_000)
      const { repository, version, date, out } = release
      const folder = await release.newFolder()
      const manual = join(folder, 'holdfast.1')
      await run('dpkg-deb', ['--extract', file, folder])
      const { stdout } = await run('zcat', [join(folder, 'usr/share/man/man1/holdfast.1.gz')])
      await writeFile(manual, stdout)
      const executable = join(out, `holdfast-${version}-linux-${arch}`)
      const licenses = join(out, `holdfast-${version}-linux-licenses.txt`)
      const options = { arch, version, executable, licenses, manual, changes: '- Tried', date }
      const again = join(folder, 'again.deb')
      await makeDebianPackage(repository.folder, options, again)
      expect((await readFile(again)).equals(await readFile(file))).to.equal(true)
    })

    it('names no file of the repository, which it does not have', async () => {
      const folder = await release.newFolder()
      await run('dpkg-deb', ['--extract', file, folder])
      const manual = join(folder, 'usr/share/man/man1/holdfast.1.gz')
      const texts = [
        await readFile(join(folder, 'etc/holdfast/holdfast.yaml'), 'utf8'),
        await readFile(join(folder, 'usr/lib/systemd/system/holdfast.service'), 'utf8'),
        (await run('zcat', [manual])).stdout,
      ]
      for (const text of texts) expect(text).not.to.match(/docs\/|\.md\b/)
    })

    it('has files of root with the time of the commit, and no others', async function () {
      this.timeout(60_000)
      const { stdout } = await run('dpkg-deb', ['--contents', file], {
        env: { ...process.env, TZ: 'UTC' },
      })
      const entries = stdout
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/\s+/))
      for (const [, owner, , day, time] of entries) {
        expect([owner, day, time]).to.deep.equal(['root/root', '2026-01-02', '03:04'])
      }
      const files = entries.filter(([mode]) => !mode?.startsWith('d'))
      expect(files.map(([mode, , , , , path]) => `${mode} ${path}`)).to.deep.equal([
        '-rw-r--r-- ./etc/holdfast/holdfast.yaml',
        '-rwxr-xr-x ./usr/bin/holdfast',
        '-rw-r--r-- ./usr/lib/systemd/system/holdfast.service',
        '-rw-r--r-- ./usr/share/bash-completion/completions/holdfast',
        '-rw-r--r-- ./usr/share/doc/holdfast/changelog.gz',
        '-rw-r--r-- ./usr/share/doc/holdfast/copyright',
        '-rw-r--r-- ./usr/share/doc/holdfast/licenses.gz',
        '-rw-r--r-- ./usr/share/fish/vendor_completions.d/holdfast.fish',
        '-rw-r--r-- ./usr/share/lintian/overrides/holdfast',
        '-rw-r--r-- ./usr/share/man/man1/holdfast.1.gz',
        '-rw-r--r-- ./usr/share/zsh/vendor-completions/_holdfast',
      ])
    })

    it('says what it is, with a version before that of the release', async function () {
      this.timeout(60_000)
      const { stdout } = await run('dpkg-deb', ['--field', file])
      expect(stdout)
        .to.match(/^Package: holdfast$/m)
        .and.to.match(/^Version: 9\.8\.7~rc\.1$/m)
      await run('dpkg', ['--compare-versions', '9.8.7~rc.1', 'lt', '9.8.7'])
    })

    it('is installed, serves, is upgraded with changed settings kept, removed and purged', async function () {
      this.timeout(600_000)
      const output = await runOnCopyOfMachine(release.out, scriptOf(name, await findFreePort()))
      const outputOf = (title: string) =>
        output.split(`== ${title}\n`)[1]?.split('\n== ')[0]?.split('\n')
      expect(outputOf('installed')).to.deep.equal([
        'root holdfast 750 /etc/holdfast',
        'root root 644 /etc/holdfast/holdfast.yaml',
        'root holdfast 640 /etc/holdfast/customers.yaml',
        'holdfast holdfast 750 /var/lib/holdfast',
        '/usr/sbin/nologin',
        '/etc/systemd/system/multi-user.target.wants/holdfast.service',
      ])
      expect(outputOf('served')).to.deep.equal([
        'OK',
        'kept by holdfast holdfast, mode 640',
        'the same file',
      ])
      expect(outputOf('upgraded')).to.deep.equal([
        '9.8.7',
        'the changed settings',
        'the new settings beside them',
        'the same file',
      ])
      expect(outputOf('removed')).to.deep.equal([
        'no program',
        'no unit',
        'the changed settings',
        'the same file',
      ])
      expect(outputOf('purged')).to.deep.equal([
        'no settings',
        'the same file',
        'the user whose it is',
      ])
      expect(outputOf('purged without files')).to.deep.equal(['nothing', 'no user'])
    })
  })
}

/** Every command's own output goes to standard error, but for what is looked at. */
function scriptOf(name: string, port: number): string {
  const get = `curl --silent --fail --header @auth http://127.0.0.1:${port}/serve/a.txt | cmp - /etc/hostname`
  const file = '/var/lib/holdfast/files/alice/a.txt'
  return `
    cd /root/place
    install() { DEBIAN_FRONTEND=noninteractive dpkg --force-unsafe-io --force-confdef --force-confold --install "$1" >&2; }
    install origin/${name}
    echo '== installed'
    stat --format '%U %G %a %n' /etc/holdfast /etc/holdfast/holdfast.yaml /etc/holdfast/customers.yaml /var/lib/holdfast
    getent passwd holdfast | cut -d : -f 7
    ls /etc/systemd/system/multi-user.target.wants/holdfast.service

    holdfast customers add alice --customers /etc/holdfast/customers.yaml >password
    printf 'x-auth-name: alice\\nx-auth-password: %s\\n' "$(cat password)" >auth
    printf 'host: 127.0.0.1\\nport: ${port}\\n' >/etc/holdfast/holdfast.yaml
    systemctl enable
    echo '== served'
    curl --silent --retry 60 --retry-delay 1 --retry-all-errors --fail --header @auth --upload-file /etc/hostname http://127.0.0.1:${port}/upload/a.txt
    echo
    stat --format 'kept by %U %G, mode %a' ${file}
    ${get} && echo 'the same file'

    dpkg-deb --raw-extract origin/${name} new
    sed -i 's/^Version: .*/Version: 9.8.7/' new/DEBIAN/control
    echo '# New' >>new/etc/holdfast/holdfast.yaml
    dpkg-deb -Znone --build new new.deb >&2
    rm -r new
    install new.deb
    rm new.deb
    systemctl restart
    echo '== upgraded'
    dpkg-query --show --showformat '\${Version}\\n' holdfast
    grep --quiet 'port: ${port}' /etc/holdfast/holdfast.yaml && echo 'the changed settings'
    grep --quiet '# New' /etc/holdfast/holdfast.yaml.dpkg-dist && echo 'the new settings beside them'
    curl --silent --retry 60 --retry-delay 1 --retry-all-errors --fail http://127.0.0.1:${port}/ping >&2
    ${get} && echo 'the same file'

    systemctl disable
    dpkg --remove holdfast >&2
    echo '== removed'
    ls /usr/bin/holdfast 2>/dev/null || echo 'no program'
    ls /usr/lib/systemd/system/holdfast.service 2>/dev/null || echo 'no unit'
    grep --quiet 'port: ${port}' /etc/holdfast/holdfast.yaml && echo 'the changed settings'
    cmp ${file} /etc/hostname && echo 'the same file'

    dpkg --purge holdfast >&2
    echo '== purged'
    ls /etc/holdfast 2>/dev/null || echo 'no settings'
    cmp ${file} /etc/hostname && echo 'the same file'
    getent passwd holdfast >/dev/null && echo 'the user whose it is'

    rm -r /var/lib/holdfast
    userdel holdfast
    groupadd --system holdfast
    install origin/${name}
    dpkg --purge holdfast >&2
    echo '== purged without files'
    find /etc/holdfast* /etc/systemd/system -name 'holdfast*' 2>/dev/null || true
    ls --directory /etc/holdfast /var/lib/holdfast /usr/bin/holdfast /usr/share/doc/holdfast 2>/dev/null || echo 'nothing'
    getent passwd holdfast || echo 'no user'
    echo '== '
  `
}
