import { otherS3Servers } from './other-s3-servers.ts'
import { expiryGroup, historyGroup, linksGroup, renamingGroup, uploadGroup } from './group-names.ts'

/** One run of the contract suites. */
export interface Suite {
  /** The name that the store's test gives to the suites. */
  readonly name: string
  /** The head of its column. */
  readonly column: string
  /** Groups that this run leaves out, each with the reason for the reader. */
  readonly without: Readonly<Record<string, string>>
  /** Groups in which this run has it easier by an option of the suite, each with the sentence for the reader. */
  readonly exceptions: Readonly<Record<string, string>>
}

/** One column of the README's matrix. */
export interface Store {
  readonly name: string
  /** A store with several layouts passes a test when it passes with each. */
  readonly suites: readonly Suite[]
}

/** The groups of `describeHistory`. */
const historyGroups = [
  'what is kept',
  'versions of a name',
  'deleted names',
  'restoring',
  'purging',
  'at once',
  'unreachable',
]

/** The stores that come with holdfast. Whoever adds a store adds its line here. */
export const stores: readonly Store[] = [
  {
    name: 'memory',
    suites: [
      {
        name: 'the memory store',
        column: 'memory',
        without: {
          full: 'it is full when the process is out of memory, and then it answers no more',
          unreachable: 'it lives in the process that asks it',
          [uploadGroup('full')]: 'as for blobs, above',
          [renamingGroup('unreachable')]: 'as for blobs, above',
          [linksGroup('unreachable')]: 'as for blobs, above',
          [expiryGroup('unreachable')]: 'as for blobs, above',
          [historyGroup('unreachable')]: 'as for blobs, above',
          [uploadGroup('unreachable')]: 'as for blobs, above',
        },
        exceptions: {
          streaming: 'putting 64 MiB may take 160 MiB of memory, where it keeps them',
          [uploadGroup('big appends')]:
            'appending 272 MiB may take 544 MiB of memory, where it keeps them',
        },
      },
    ],
  },
  {
    name: 'disk',
    suites: [
      {
        name: 'plain names',
        column: 'disk',
        without: {
          unreachable: 'a disk is a part of the machine; its errors are reported as they are',
          [renamingGroup('unreachable')]: 'as for blobs, above',
          [linksGroup('unreachable')]: 'as for blobs, above',
          [expiryGroup('unreachable')]: 'as for blobs, above',
          [historyGroup('unreachable')]: 'as for blobs, above',
          [uploadGroup('unreachable')]: 'as for blobs, above',
        },
        exceptions: {},
      },
      {
        name: 'escaped names',
        column: 'escaped',
        without: {
          full: 'names do not matter to a full disk: see the column before',
          unreachable: 'as in the column before',
          [uploadGroup('full')]: 'names do not matter to a full disk: see the column before',
          [renamingGroup('unreachable')]: 'as in the column before',
          [linksGroup('unreachable')]: 'as in the column before',
          [expiryGroup('unreachable')]: 'as in the column before',
          [historyGroup('unreachable')]: 'as in the column before',
          [uploadGroup('unreachable')]: 'as in the column before',
        },
        exceptions: {
          [uploadGroup('appending')]: 'many appends are 100 instead of 1,000',
        },
      },
    ],
  },
  {
    name: 'MinIO',
    suites: [
      {
        name: 'MinIO',
        column: 'MinIO',
        without: Object.fromEntries(
          historyGroups.map((group) => [historyGroup(group), 'its bucket keeps no versions']),
        ),
        exceptions: {
          streaming:
            'putting 64 MiB may take 52 MiB of memory: S3 wants large parts, each sent whole',
          [uploadGroup('appending')]:
            'many appends are 20 instead of 1,000: each is several requests',
          [uploadGroup('big appends')]:
            'appending 272 MiB may take 52 MiB of memory: S3 wants large parts, each sent whole',
        },
      },
      {
        name: 'MinIO with versions',
        column: 'MinIO, versioned',
        without: {
          full: 'versions do not matter to a full server: see the column before',
          [uploadGroup('full')]: 'versions do not matter to a full server: see the column before',
        },
        exceptions: {
          streaming: 'as in the column before',
          [uploadGroup('appending')]: 'as in the column before',
          [uploadGroup('big appends')]: 'as in the column before',
          [historyGroup('versions of a name')]:
            '60 versions of a name instead of 1,100: each is two requests',
        },
      },
    ],
  },
]

/**
 * Suites of what is no store by itself, but goes around one, or of a store on other servers and file systems. They have no
 * column.
 */
export const wrappers: readonly string[] = [
  ...otherS3Servers,
  'tmpfs',
  'Btrfs',
  'a store with injected faults, none of them planned,',
  'a store that is watched',
]
