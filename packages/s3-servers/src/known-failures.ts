/** An S3 server other than MinIO that tests run. */
export type S3ServerKind = 'versitygw' | 'rclone' | 'moto'

/** Tests that a server fails since it cannot do what they ask for. */
export interface KnownFailure {
  /** What the server cannot do, as a sentence without a full stop. */
  readonly cannot: string
  /** Whether the tests fail by chance, as in a race. Default: they always fail. */
  readonly isByChance?: boolean
  /** Whether the tests are not run, since they take minutes on this server. Default: they are run. */
  readonly isLeftOut?: boolean
  /** What the error of each of the tests says, or a part of it. */
  readonly error: RegExp
  /** The titles of the tests, each with those of the suites around it from `describeWithS3Server` on, joined by ` > `. */
  readonly tests: readonly string[]
}

/** What is known of a server. */
export interface KnownServer {
  /** What operators have to know, for the README; sentences without a full stop. */
  readonly remarks: readonly string[]
  /** What it fails of the contract suite. */
  readonly contract: readonly KnownFailure[]
  /** What it fails of the black-box suite. */
  readonly blackBox: readonly KnownFailure[]
  /** How often a test that fails is tried again, on a server that answers any request with 500 by chance. Default: 0. */
  readonly retries?: number
  /** What an inspection finds fault with, as `check: mark`. */
  readonly findings: readonly string[]
}

const notInXml = {
  cannot: 'Lists leave out files called `. `, ` .` or `.. `, and give U+FFFD for U+FFFF in names',
  error: /^AssertionError: expected \[/,
}

const whileOverwritten = [
  'listing > gives each of 2000 names exactly once while they are overwritten',
  'listing > gives each of 2000 names in a page while they are overwritten',
  'usage > counts each of 2000 blobs once while they are overwritten',
]

const tooSlow = (kind: S3ServerKind): KnownFailure => ({
  cannot: 'Thousands of files that are overwritten all the while take minutes',
  isLeftOut: true,
  error: /^/,
  tests: whileOverwritten.map((test) => `${kind} as a BlobStore > ${test}`),
})

const replacesInPlace = {
  cannot: 'Replaces files in place: who reads one meanwhile may get a broken download',
  isByChance: true,
  error: /./,
}

const losesRequests = {
  cannot: 'Does not answer every request where many come at once for one file',
  isByChance: true,
  error: /./,
}

/** What each server cannot do. A test that begins to pass here fails, until its line is taken out. */
export const knownFailures: Readonly<Record<S3ServerKind, KnownServer>> = {
  versitygw: {
    remarks: [notInXml.cannot],
    contract: [
      {
        ...notInXml,
        tests: [
          ...['. ', ' .', '.. ', '\uffff'].map(
            (name) =>
              `versitygw as a BlobStore > naming > keeps a blob called "${name}" of a customer called the same`,
          ),
          'versitygw as a BlobStore > naming > keeps names apart that differ in case, normalisation, dots, spaces or escapes',
          'versitygw as a BlobStore > customers > tells customers of any name, each once, in the order of their UTF-8 bytes',
        ],
      },
      tooSlow('versitygw'),
    ],
    blackBox: [],
    findings: ['names: warning'],
  },
  rclone: {
    remarks: [
      replacesInPlace.cannot,
      'Has to be started with `--no-unicode-normalization`; otherwise customers and files whose names look alike are one',
      'Files called `. `, ` .` or `.. ` are gone from view when it reads its folder anew, after some minutes',
    ],
    contract: [
      tooSlow('rclone'),
      {
        ...replacesInPlace,
        tests: [
          ...[
            'overwriting > keeps one of ten blobs put at once, whole',
            'overwriting > shows whole blobs only while ten puts replace each other',
            'overwriting > publishes a put that was overtaken by another put and by a delete',
            ...[
              'replaced by a longer one',
              'replaced by one of the same size',
              'replaced by an empty one',
              'deleted',
              'deleted and put anew',
            ].map(
              (change) => `overwriting > reads an opened blob to its end after it is ${change}`,
            ),
            'create-only > lets exactly one of twenty puts at once succeed',
            'ranges > reads a range of the blob that was opened after that is replaced',
            'absence > deletes a blob once, however many deletes come at once',
            'absence > has deleted a blob after deletes at once through two openings',
            'absence > stores under a name while its blob is deleted over and over',
            'listing > gives every name that stays exactly once while others come and go',
            'sharing > lets exactly one of twenty create-only puts through two openings succeed',
            'sharing > leaves a blob that is being read alone when another opening replaces it',
          ].map((test) => `rclone as a BlobStore > ${test}`),
        ],
      },
    ],
    blackBox: [
      {
        ...replacesInPlace,
        tests: [
          'same name again > shows readers the old or the new, whole, while uploads replace it',
          'same name again > lets a download under way finish with what it began, on replacement and on deletion',
          'same name again > by many uploads at once leaves one of them, whole',
        ].map((test) => `the service on rclone > ${test}`),
      },
    ],
    findings: ['names: warning'],
  },
  moto: {
    remarks: [
      'For tests only: keeps everything in memory, and takes every access key; whoever reaches it may list all files',
    ],
    contract: [
      tooSlow('moto'),
      {
        ...losesRequests,
        tests: [
          'overwriting > keeps one of ten blobs put at once, whole',
          'overwriting > shows whole blobs only while ten puts replace each other',
          'create-only > lets exactly one of twenty puts at once succeed',
          'absence > deletes a blob once, however many deletes come at once',
          'absence > has deleted a blob after deletes at once through two openings',
          'absence > stores under a name while its blob is deleted over and over',
          'listing > gives every name that stays exactly once while others come and go',
          'sharing > lets exactly one of twenty create-only puts through two openings succeed',
        ].map((test) => `moto as a BlobStore > ${test}`),
      },
    ],
    blackBox: [
      {
        ...losesRequests,
        tests: [
          'same name again > by many uploads at once leaves one of them, whole',
          'same name again > shows readers the old or the new, whole, while uploads replace it',
          'If-None-Match: * on upload > is race-free among many uploads: exactly one wins, and its content is there',
          'DELETE /delete/:filename > succeeds for one of many at once, or for more, and the file is gone',
        ].map((test) => `the service on moto > ${test}`),
      },
    ],
    // Seen: an HTML page of its framework in place of the answer to a part.
    retries: 3,
    findings: ['strangers: problem'],
  },
}
