/** The kinds of S3 servers that tests run, beside MinIO. */
export type S3ServerKind = 'versitygw' | 'rclone'

/** Tests that fail on a server because it lacks a feature. */
export interface KnownFailure {
  /** What the server cannot do, as a sentence without a full stop. */
  readonly cannot: string
  /** A part of the message of each test's error. */
  readonly error: RegExp
  /** The titles of the tests, each with those of the suites around it from `describeWithS3Server` on, joined by ` > `. */
  readonly tests: readonly string[]
}

/** The known differences of a server. */
export interface KnownServer {
  /** What operators must know, for docs/minio.md; sentences without a full stop. */
  readonly remarks: readonly string[]
  /** The tests of the contract suite that it fails. */
  readonly contract: readonly KnownFailure[]
  /**
   * The tests of the contract suite that it passes or fails by chance, as in a race; titles as in `KnownFailure`. These tests do not run:
   * neither a pass nor a failure would prove anything.
   */
  readonly byChance: readonly string[]
  /** The problems that an inspection finds, as `check: mark`. */
  readonly findings: readonly string[]
  /** The checks of an inspection that it passes or fails by chance, as in a race. Default: none. */
  readonly findingsByChance?: readonly string[]
}

const notInXml = {
  cannot: 'Lists leave out files called `. `, ` .` or `.. `, and give U+FFFD for U+FFFF in names',
  error: /^AssertionError: expected \[/,
}

// Seen: on versitygw names in wrong order, on rclone names missing or repeated, and more blobs counted than exist.
const listsChange = 'Lists may leave out, repeat or disorder files that are overwritten meanwhile'

const testsOfLists = [
  'listing > gives each of 1100 names exactly once while they are overwritten',
  'listing > gives every name that stays exactly once while others come and go, with details',
  'listing > gives the details of one blob under each name while it is replaced',
  'listing > fills a limit with details though blobs go meanwhile',
]

const replacesInPlace = 'Replaces files in place: who reads one meanwhile may get a broken download'

const testsOfReplacing = [
  'overwriting > keeps one of ten blobs put at once, whole',
  'overwriting > shows whole blobs only while ten puts replace each other',
  'overwriting > publishes a put that was overtaken by another put and by a delete',
  ...[
    'replaced by a longer one',
    'replaced by one of the same size',
    'replaced by an empty one',
    'deleted',
    'deleted and put anew',
  ].map((change) => `overwriting > reads an opened blob to its end after it is ${change}`),
  'create-only > lets exactly one of twenty puts at once succeed',
  'ranges > reads a range of the blob that was opened after that is replaced',
  'absence > deletes a blob once, however many deletes come at once',
  'absence > has deleted a blob after deletes at once through two openings',
  'absence > stores under a name while its blob is deleted over and over',
  'listing > gives every name that stays exactly once while others come and go',
  'sharing > lets exactly one of twenty create-only puts through two openings succeed',
  'sharing > leaves a blob that is being read alone when another opening replaces it',
]

/** What each server cannot do. A test that starts to pass fails here until its line is removed. */
export const knownFailures: Readonly<Record<S3ServerKind, KnownServer>> = {
  versitygw: {
    remarks: [notInXml.cannot, listsChange],
    contract: [
      {
        ...notInXml,
        tests: [
          ...['. ', ' .', '.. ', '\uffff'].map(
            (name) => `naming > keeps a blob called "${name}" of a customer called the same`,
          ),
          'naming > keeps names apart that differ in case, normalisation, dots, spaces or escapes',
          'customers > lists customers of any name, each once, in the order of their UTF-8 bytes',
        ].map((test) => `versitygw as a BlobStore > ${test}`),
      },
    ],
    byChance: testsOfLists.map((test) => `versitygw as a BlobStore > ${test}`),
    findings: ['names: warning'],
  },
  rclone: {
    remarks: [
      replacesInPlace,
      listsChange,
      'Has to be started with `--no-unicode-normalization`; otherwise customers and files whose names look alike are one',
      'Files called `. `, ` .` or `.. ` are gone from view when it reads its folder anew, after some minutes',
    ],
    contract: [],
    byChance: [...testsOfLists, ...testsOfReplacing].map(
      (test) => `rclone as a BlobStore > ${test}`,
    ),
    findings: ['names: warning'],
    findingsByChance: ['writers at once'],
  },
}
