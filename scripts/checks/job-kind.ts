import type { TestNeed } from './test-needs.ts'

/** What the processors' time of a run is spent on, in the order in which it is reported. */
export const jobKinds = [
  'lint and format',
  'build and types',
  'units',
  'the product as a whole',
  'MinIO',
  'other S3 servers',
  'browsers',
  'crashes, power cuts and faults',
  'release and installation',
  'the bench itself',
] as const

export type JobKind = (typeof jobKinds)[number]

const places: readonly (readonly [RegExp, JobKind])[] = [
  [/^scripts\/bench\//, 'the bench itself'],
  [
    /\/(crash|power-cut|endurance|faults|disk-faults)\b|\/every-fault\b/,
    'crashes, power cuts and faults',
  ],
  [
    /^scripts\/(release|program|examples|containers)\/|\/new-embedder\//,
    'release and installation',
  ],
]

const needed: readonly (readonly [TestNeed, JobKind])[] = [
  ['s3servers', 'other S3 servers'],
  ['browsers', 'browsers'],
  ['tarballs', 'release and installation'],
  ['images', 'release and installation'],
  ['containers', 'MinIO'],
]

/** The kind of a test file, by where it stands and what it needs. */
export function kindOfTest(file: string, needs: readonly TestNeed[]): JobKind {
  const byPlace = places.find(([place]) => place.test(file))
  const byNeed = needed.find(([need]) => needs.includes(need))
  const [, kind] = byPlace ?? byNeed ?? []
  return kind ?? (file.startsWith('packages/system-tests/') ? 'the product as a whole' : 'units')
}
