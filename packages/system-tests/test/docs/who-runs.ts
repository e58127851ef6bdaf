/** Shell in the documents, and who runs it. */
export interface Claim {
  readonly document: RegExp
  /** Occurs in the blocks that are meant. */
  readonly shell: RegExp
  /** The test that runs it, below the root. */
  readonly by?: string
  /** Why no test runs it. */
  readonly why?: string
}

const docs = 'packages/system-tests/test/docs'

/**
 * Who runs the shell of the documents: each block is claimed by one line here, and each line claims a block. Who writes a
 * command into a document adds the test that runs it.
 */
export const claims: readonly Claim[] = [
  { document: /^README/, shell: /^scripts\/start /, by: 'scripts/tour/test/start.test.ts' },
  {
    document: /^(README|docs\/api)\.md/,
    shell: /^(curl|PASSWORD=)/m,
    by: `${docs}/documents.test.ts`,
  },
  {
    document: /^docs\/back-up/,
    shell: /scripts\/start copy/,
    by: `${docs}/moving-house.test.ts`,
  },
  { document: /^docs\/diagnose/, shell: /start doctor/, by: `${docs}/doctor.test.ts` },
  { document: /^docs\/back-up/, shell: /^rsync/, by: `${docs}/backup.external.test.ts` },
  {
    document: /^docs\/minio/,
    shell: /^mc admin policy/,
    why: 'docs/deploy/compose-minio.sh does the same, and a new operator runs that; cluster/bucket-policy.test.ts tries each right',
  },
  {
    document: /^docs\/(audit|configuration|run|several-servers)/,
    shell: /(holdfast serve|scripts\/start serve|scripts\/start --)/,
    by: `${docs}/server-commands.test.ts`,
  },
  {
    document: /^docs\/install/,
    shell: /^/,
    by: 'scripts/release/test/release.external.long.test.ts',
  },
  {
    document: /^docs\/containers/,
    shell: /^/,
    by: 'packages/system-tests/test/containers/new-operator-suite.ts',
  },
  {
    document: /^docs\/deploy\/kubernetes/,
    shell: /^kubectl/m,
    why: 'it needs a cluster; docs/kubernetes.test.ts holds what it applies against the types of Kubernetes',
  },
  {
    document: /^docs\/configuration/,
    shell: /--password-stdin/,
    by: `${docs}/server-commands.test.ts`,
  },
  {
    document: /^packages\/holdfast\/README/,
    shell: /^(npm install|npx holdfast)/,
    by: 'scripts/release/test',
  },
  {
    document: /^packages\/holdfast\/README/,
    shell: /(^|\| )holdfast (login|ls|get|cat) /m,
    by: 'packages/holdfast/test/readme.test.ts',
  },
  { document: /^packages\/[^/]*\/README/, shell: /^npm install/, by: 'scripts/release/test' },
  {
    document: /^examples\/[^/]*\/README/,
    shell: /^npm install$/m,
    by: 'scripts/examples/test/installed-examples.ts',
  },
  {
    document: /^examples\/(koa-sessions|express-multer|node-http)/,
    shell: /^curl /m,
    by: 'scripts/examples/test/readmes.ts',
  },
  {
    document: /^examples\/nightly-cleanup/,
    shell: /^npm start -- /m,
    by: 'scripts/examples/test/nightly-cleanup.ts',
  },
  {
    document: /^examples\/postgres-customers/,
    shell: /^psql /m,
    by: 'scripts/examples/test/postgres-customers.ts',
  },
  {
    document: /^examples\/encrypted-store/,
    shell: /^MASTER_KEY=/m,
    by: 'scripts/examples/test/encrypted-store.ts',
  },
  {
    document: /^examples\/sqlite-store/,
    shell: /^node src\/main\.ts/m,
    by: `${docs}/writing-an-adapter.external.long.test.ts`,
  },
]
