import { shellBlocks } from '../../../packages/system-tests/test/docs/shell-blocks.ts'

/** What the test looks at, after the block of the page that the pattern finds. */
const looks: readonly (readonly [RegExp, string])[] = [
  [
    /^scripts\/release/,
    `echo '== folder'
     ls release
     cp -r release ../origin`,
  ],
  [
    /ln -sfn/,
    `echo '== npx'
     (cd /opt/holdfast && npx --offline holdfast --version)`,
  ],
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

/**
 * The blocks of docs/install.md as one script for a copy of this machine, in a clone of its `/root/place/origin`, with titles and `looks`
 * between them, for this version and this port. What it releases it copies to `origin/release`.
 */
export function installPageScript(version: string, port: number): string {
  const parts = shellBlocks('docs/install.md').flatMap(({ script }) => [
    ...(script.startsWith('scripts/release') ? ["echo '== Tarballs'"] : []),
    ...(script.startsWith('npm install ../')
      ? ['cd ../application', 'npm init --yes >/dev/null']
      : []),
    script,
    "echo '== '",
    ...looks.filter(([block]) => block.test(script)).map(([, look]) => look),
    "echo '== '",
  ])
  return [
    'cd /root/place',
    'git clone --quiet origin holdfast',
    'mkdir application',
    'cd holdfast',
    // It is not committed, so it is in no release.
    'mkdir packages/core/dist',
    'touch packages/core/dist/stale.js',
    ...parts,
  ]
    .join('\n')
    .replaceAll('3000', String(port))
    .replaceAll('0.1.0', version)
}
