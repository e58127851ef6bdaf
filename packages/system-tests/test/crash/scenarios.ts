import { patternedContent } from './patterned-content.ts'
import type { Scenario, CrashPoint } from './scenario.ts'
import { send, sendBatchInTurn, sendForm, sendRename } from './send.ts'
import { createAgainstRival } from './uploads.ts'

/** One whose steps are known. */
type KnownScenario = Scenario & { readonly steps: readonly CrashPoint[] }

const KiB = 1024
// A byte more, or else all of it might come in pieces that are not gathered, and nothing be left for the end.
const large = 3 * 1024 * KiB + 1

const ok = [200, 'OK'] as const
const createOnly = { 'if-none-match': '*' }

const kept = { 'kept.txt': patternedContent('kept', 100) }
const fresh = (size: number) => patternedContent('new', size)
const old = (size: number) => patternedContent('old', size)

// What is below 64 KiB is written when the content has ended, and so is the last piece of what is far beyond. What is
// written when of 64 KiB, or a byte more, depends on the pieces in which it comes.
const arrived: readonly CrashPoint[] = ['temporary-made', 'content-ended', 'content-written']
const largeArriving: readonly CrashPoint[] = [
  'temporary-made',
  'content-written',
  'content-written',
]
const largeArrived: readonly CrashPoint[] = [...largeArriving, 'content-ended', 'content-written']
const sealed: readonly CrashPoint[] = ['content-synced', 'temporary-closed']
// The first time that a process stores something of a customer, it makes sure of the directory.
const certain: readonly CrashPoint[] = [...sealed, 'directory-synced']
const named: readonly CrashPoint[] = ['named', 'name-synced']
const answered: readonly CrashPoint[] = ['answer-ready', 'answer-sent']

function overwrite(
  newSize: number,
  oldSize: number,
  arriving: readonly CrashPoint[],
  kills: readonly CrashPoint[],
): KnownScenario {
  return {
    kills,
    title: `an upload of ${newSize} bytes in place of ${oldSize}`,
    before: { ...kept, 'a.txt': old(oldSize) },
    request: (url) => send(url, 'PUT', '/upload/a.txt', fresh(newSize)),
    answer: ok,
    changes: [{ 'a.txt': fresh(newSize) }],
    steps: [...arriving, ...certain, ...named, ...answered],
  }
}

const uploads: readonly KnownScenario[] = [
  {
    title: 'the first upload of a customer, 3 MiB in a form',
    before: {},
    request: (url) => sendForm(url, '/upload', { 'a.txt': fresh(large) }),
    answer: ok,
    changes: [{ 'a.txt': fresh(large) }],
    steps: [
      ...largeArriving,
      'form-complete',
      'content-ended',
      'content-written',
      ...sealed,
      'directory-made',
      'directory-synced',
      ...named,
      ...answered,
    ],
  },
  {
    title: 'an upload under a new name, a byte more than 64 KiB',
    before: kept,
    request: (url) => send(url, 'PUT', '/upload/a.txt', fresh(64 * KiB + 1)),
    answer: ok,
    changes: [{ 'a.txt': fresh(64 * KiB + 1) }],
    steps: ['temporary-made', 'content-ended', ...certain, ...named, ...answered],
  },
  {
    title: 'an upload in place of a file of the same size, 64 KiB in a form with a field',
    kills: ['form-complete', 'content-synced', 'named', 'name-synced', 'answer-ready'],
    before: { ...kept, 'a.txt': old(64 * KiB) },
    // With the field it is read as a stream, in however many pieces it comes.
    request: (url) => sendForm(url, '/upload', { 'a.txt': fresh(64 * KiB) }, { note: 'x' }),
    answer: ok,
    changes: [{ 'a.txt': fresh(64 * KiB) }],
    steps: ['temporary-made', 'form-complete', 'content-ended', ...certain, ...named, ...answered],
  },
  {
    ...overwrite(
      KiB,
      2 * KiB,
      ['form-complete', ...arrived],
      ['form-complete', 'temporary-made', 'content-written', 'named', 'answer-sent'],
    ),
    title: 'an upload of 1 KiB in a form that is there at once',
    request: (url) => sendForm(url, '/upload', { 'a.txt': fresh(KiB) }),
  },
  overwrite(large, large, largeArrived, [
    'content-written',
    'content-synced',
    'temporary-closed',
    'named',
    'name-synced',
  ]),
  overwrite(1, 64 * KiB - 1, arrived, ['content-written', 'named']),
  overwrite(0, 1, ['temporary-made', 'content-ended'], ['content-ended', 'named']),
  {
    ...overwrite(64 * KiB - 1, 0, arrived, [
      'temporary-made',
      'content-synced',
      'named',
      'name-synced',
      'answer-sent',
    ]),
    title: 'an upload beside another server on the directory',
    hasNeighbour: true,
  },
  {
    title: 'a batch that replaces a file and adds one',
    kills: ['content-synced', 'named', 'name-synced', 'answer-ready', 'answer-sent'],
    before: { ...kept, 'a.txt': old(2) },
    request: (url) => sendBatchInTurn(url, { 'a.txt': fresh(1), 'b.txt': fresh(5 * KiB) }),
    answer: [200, '"filename":"b.txt","statusCode":200'],
    changes: [{ 'a.txt': fresh(1) }, { 'b.txt': fresh(5 * KiB) }],
    steps: [
      ...[...arrived, ...certain, ...named],
      'answer-ready',
      ...[...arrived, ...sealed, ...named],
      'answer-sent',
    ],
  },
  {
    title: 'an upload that is refused for its digest',
    kills: ['discarded', 'answer-ready', 'answer-sent'],
    before: { ...kept, 'a.txt': old(large) },
    request: (url) => {
      const digest = `sha-256=:${Buffer.alloc(32).toString('base64')}:`
      return send(url, 'PUT', '/upload/a.txt', fresh(large), { 'content-digest': digest })
    },
    answer: [400, 'Digest mismatch'],
    steps: [...largeArriving, 'discarded', ...answered],
  },
]

const creations: readonly KnownScenario[] = [
  {
    title: 'a create-only upload to a free name',
    kills: ['temporary-closed', 'named', 'second-name-removed', 'name-synced', ...answered],
    before: kept,
    request: (url) => send(url, 'PUT', '/upload/a.txt', fresh(64 * KiB - 1), createOnly),
    answer: ok,
    changes: [{ 'a.txt': fresh(64 * KiB - 1) }],
    steps: [...arrived, ...certain, 'named', 'second-name-removed', 'name-synced', ...answered],
  },
  {
    title: 'a create-only upload to a taken name',
    kills: ['answer-ready'],
    before: { ...kept, 'a.txt': old(1) },
    request: (url) => send(url, 'PUT', '/upload/a.txt', fresh(1), createOnly),
    answer: [412, 'Precondition Failed'],
    steps: answered,
  },
  {
    title: 'a create-only upload to a name that is taken meanwhile',
    kills: ['temporary-closed', 'discarded', 'answer-sent'],
    before: kept,
    rivals: { 'a.txt': old(KiB) },
    request: (url, site) => createAgainstRival(url, site, 'a.txt', fresh(2 * KiB), old(KiB)),
    answer: [412, 'Precondition Failed'],
    steps: [...arrived, ...certain, 'discarded', ...answered],
  },
]

const deletions: readonly KnownScenario[] = [
  {
    title: 'a deletion',
    before: { ...kept, 'a.txt': old(KiB) },
    request: (url) => send(url, 'DELETE', '/delete/a.txt'),
    answer: ok,
    changes: [{ 'a.txt': undefined }],
    steps: ['name-removed', 'removal-synced', ...answered],
  },
  {
    title: 'a deletion of a missing file',
    kills: ['answer-ready'],
    before: kept,
    request: (url) => send(url, 'DELETE', '/delete/a.txt'),
    answer: [400, 'File not found'],
    steps: answered,
  },
]

const renamed = { 'a.txt': undefined, 'b.txt': old(KiB) }

const renames: readonly KnownScenario[] = [
  {
    title: 'a rename',
    before: { ...kept, 'a.txt': old(KiB) },
    request: (url) => sendRename(url, 'a.txt', { to: 'b.txt' }),
    answer: ok,
    changes: [renamed],
    steps: ['directory-synced', ...named, ...answered],
  },
  {
    title: 'a rename in place of a newer file',
    kills: ['named', 'name-synced'],
    before: { ...kept, 'a.txt': old(KiB), 'b.txt': old(64 * KiB) },
    request: (url) => sendRename(url, 'a.txt', { to: 'b.txt' }),
    answer: ok,
    changes: [renamed],
    steps: ['directory-synced', ...named, ...answered],
  },
  {
    title: 'a create-only rename',
    before: { ...kept, 'a.txt': old(KiB) },
    request: (url) => sendRename(url, 'a.txt', { to: 'b.txt', createOnly: true }),
    answer: ok,
    changes: [renamed],
    steps: [
      ...(['rename-noted', 'directory-synced', 'named', 'first-name-moved-away'] as const),
      ...(['second-name-removed', 'name-synced'] as const),
      ...answered,
    ],
  },
  {
    title: 'a create-only rename to a taken name',
    kills: ['answer-ready'],
    before: { 'a.txt': old(KiB), 'b.txt': old(1) },
    request: (url) => sendRename(url, 'a.txt', { to: 'b.txt', createOnly: true }),
    answer: [412, 'Precondition Failed'],
    steps: answered,
  },
]

const swept: readonly CrashPoint[] = ['left-overs-found', 'left-overs-removed']

const starts: readonly KnownScenario[] = [
  {
    title: 'the first start',
    steps: [
      ...(['data-directory-made', 'instance-made', 'name-trial-written'] as const),
      ...(['temporary-made', 'marker-written', 'marker-linked', 'marker-synced'] as const),
      ...(['directory-made', 'directory-synced', 'opened'] as const),
    ],
  },
  {
    title: 'the start after two crashes, beside another server',
    kills: ['instance-made', ...swept, 'opened'],
    before: kept,
    hasLeftOvers: true,
    hasNeighbour: true,
    steps: [
      'instance-made',
      ...swept,
      ...swept,
      'name-trial-written',
      'directory-synced',
      'opened',
    ],
  },
]

/** Everything that a server is killed in the middle of. */
export const scenarios: readonly KnownScenario[] = [
  ...uploads,
  ...creations,
  ...deletions,
  ...renames,
  ...starts,
]
