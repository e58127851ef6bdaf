// It makes a release, and installs it three times.
import { expect } from 'chai'
import { findFreePort } from '../../../packages/minio-container/src/find-free-port.ts'
import { describeWithDisks } from '../../../packages/system-tests/test/disk-faults/describe-with-disks.ts'
import { shellBlocks } from '../../../packages/system-tests/test/docs/shell-blocks.ts'
import { copyRepository, type RepositoryCopy } from './repository-copy.ts'
import { runOnCopyOfMachine } from './run-on-copy-of-machine.ts'

/** What the test looks at, behind the block of the page that the pattern finds. */
const looks: readonly (readonly [RegExp, string])[] = [
  [
    /systemctl enable/,
    `echo '== server'
     holdfast customers rotate alice --customers /etc/holdfast/customers.yaml >/root/place/password
     printf 'x-auth-name: alice\\nx-auth-password: %s\\n' "$(cat /root/place/password)" >/root/place/auth
     curl --silent --retry 60 --retry-delay 1 --retry-all-errors --fail --header @/root/place/auth --upload-file README.md http://127.0.0.1:3000/upload/README.md
     echo
     stat --format 'kept by %U %G, mode %a' /var/lib/holdfast /var/lib/holdfast/files/alice/README.md`,
  ],
  [
    /systemctl disable/,
    `echo '== removed'
     curl --silent http://127.0.0.1:3000/ping || echo 'no server'
     ls /usr/local/bin/holdfast 2>/dev/null || echo 'no program'
     cmp README.md /var/lib/holdfast/files/alice/README.md && echo 'the same file'`,
  ],
  [
    /^npm install \.\.\/holdfast/,
    `echo '== application'
     node --input-type=module --eval "
       import { createFileService } from '@holdfast/core'
       import { openDiskBlobStore } from '@holdfast/store-disk'
       const store = await openDiskBlobStore({ directory: './data' })
       const files = createFileService({ store }).filesOf({ name: 'alice' })
       await files.upload('hello.txt', new Blob(['Hello']).stream())
       for await (const names of files.list()) console.log('imported, and kept', ...names)
       await store.close()"`,
  ],
]

// The commands of the page change the machine, so they run on a copy of it.
describeWithDisks('docs/install.md', () => {
  let repository: RepositoryCopy
  let output: string

  before('runs every command of it', async function () {
    this.timeout(900_000)
    repository = await copyRepository()
    await repository.commit()
    output = await runOnCopyOfMachine(repository.folder, scriptOf(await findFreePort()))
  })
  after(() => repository.remove())

  /** What was printed behind `title`, to the next one. */
  const outputOf = (title: string) => output.split(`== ${title}\n`)[1]?.split('\n== ')[0] ?? ''

  it('makes tarballs and a unit whose checksums hold', () => {
    const printed = outputOf('Tarballs')
    expect(printed).to.include('holdfast-server-0.1.0.tgz: OK').and.include('holdfast.service: OK')
  })

  it('makes a server that answers, also after an upgrade', () => {
    expect(output.match(/^0\.1\.0$/gm)).to.have.length(1)
    expect(output.match(/^pong/gm)).to.have.length(2)
  })

  it('makes a server that takes files, as a user of its own', () => {
    expect(outputOf('server').split('\n').slice(0, 3)).to.deep.equal([
      'OK',
      'kept by holdfast holdfast, mode 750',
      'kept by holdfast holdfast, mode 640',
    ])
  })

  it('removes the server, and no file of a customer', () => {
    expect(outputOf('removed').split('\n').slice(0, 3)).to.deep.equal([
      'no server',
      'no program',
      'the same file',
    ])
  })

  it('gives an application packages that it can import', () => {
    expect(outputOf('application')).to.include('imported, and kept hello.txt')
  })
})

/** The blocks of the page as one script, with titles and `looks` between them, and another port than the usual one. */
function scriptOf(port: number): string {
  const parts = shellBlocks('docs/install.md').flatMap(({ script }) => [
    ...(script.startsWith('scripts/release') ? ["echo '== Tarballs'"] : []),
    ...(script.startsWith('npm install ../')
      ? ['cd ../application', 'npm init --yes >/dev/null']
      : []),
    script,
    "echo '== '",
    ...looks.filter(([block]) => block.test(script)).map(([, look]) => look),
  ])
  return parts.join('\n').replaceAll('3000', String(port))
}
