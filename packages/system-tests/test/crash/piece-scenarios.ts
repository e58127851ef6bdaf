import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { identifyProcess, tempDirectoryName } from '../../../store-disk/src/temp/temp-owner.ts'
import { patternedContent } from './patterned-content.ts'
import {
  draft,
  draftCreateOnly,
  tus,
  tusWithoutLength,
  type PieceProtocol,
} from './piece-protocols.ts'
import type { Scenario, CrashPoint, UploadAtStake } from './scenario.ts'

const KiB = 1024
const whole = 60 * KiB
// What is below 64 KiB is written when it has ended: otherwise the steps depend on how the network cuts it.
const piece = 20 * KiB

const before = { 'kept.txt': patternedContent('kept', 100), 'a.txt': patternedContent('old', KiB) }
const file = { name: 'a.txt', content: patternedContent('new', whole) }
const changes = [{ [file.name]: file.content }]
const created = { name: 'b.txt', content: file.content }

const publishing: readonly CrashPoint[] = [
  ...(['content-synced', 'temporary-made'] as const),
  ...(['upload-record-replaced', 'directory-synced'] as const),
  ...(['named', 'name-synced', 'upload-published', 'answer-ready', 'answer-sent'] as const),
]

interface Pieces extends Pick<Scenario, 'title' | 'hasNeighbour' | 'kills'> {
  readonly protocol: PieceProtocol
  readonly status: number
}

/** The upload begins, with so many bytes. */
function begin({ protocol, status, ...rest }: Pieces, size: number): Scenario {
  return {
    ...rest,
    before,
    changes,
    upload: { protocol, file, after: size },
    request: (url) => protocol.begin(url, file, size),
    answer: [status, ''],
  }
}

/** It goes on with the bytes from `from` to `to`. */
function append(
  { protocol, status, ...rest }: Pieces,
  [from, to]: readonly [number, number],
  prepare?: UploadAtStake['prepare'],
): Scenario {
  return {
    ...rest,
    before,
    changes,
    upload: { protocol, file, before: from, after: to, ...(prepare && { prepare }) },
    request: (url, _site, path) => protocol.append(url, path, file, { begin: from, end: to }),
    answer: [status, ''],
  }
}

/** Has the upload belong to a server in another PID namespace, which is silent. */
async function takeAsSilentServer(uploadDirectory: string): Promise<void> {
  const names = await readdir(uploadDirectory)
  const content = names.find((name) => name.startsWith('bytes-')) ?? ''
  const owner = tempDirectoryName({ ...identifyProcess(), pidNamespace: 1 }, 'abc')
  await rename(join(uploadDirectory, content), join(uploadDirectory, `${content}=${owner}`))
}

/** Uploads in pieces; their steps are found by a rehearsal. */
export const pieceScenarios: readonly Scenario[] = [
  begin({ title: 'the beginning of an upload by tus', protocol: tus, status: 201 }, 0),
  begin(
    {
      title: 'the beginning with a first piece',
      ...{ protocol: tus, status: 201 },
      kills: ['upload-begun', 'upload-taken', 'upload-offset-named', 'answer-ready'],
    },
    piece,
  ),
  begin(
    {
      title: 'an upload by tus in one request',
      ...{ protocol: tus, status: 201 },
      kills: ['content-ended', 'named', 'upload-remembered', 'answer-ready', 'answer-sent'],
    },
    whole,
  ),
  append(
    {
      title: 'a piece of an upload by tus, beside another server, which goes on with it',
      ...{ protocol: tus, status: 204, hasNeighbour: true },
    },
    [piece, 2 * piece],
  ),
  append(
    {
      title: 'a piece after a server that is silent and may come back',
      ...{ protocol: tus, status: 204 },
      kills: ['upload-copied', 'upload-copy-named'],
    },
    [piece, 2 * piece],
    takeAsSilentServer,
  ),
  append(
    {
      title: 'the last piece of an upload by tus',
      ...{ protocol: tus, status: 204 },
      kills: ['upload-offset-synced', 'upload-released', ...publishing],
    },
    [2 * piece, whole],
  ),
  append(
    {
      title: 'the last piece, which says how long the file is',
      ...{ protocol: tusWithoutLength, status: 204 },
      kills: ['upload-record-replaced', 'upload-record-synced'],
    },
    [2 * piece, whole],
  ),
  {
    title: 'a deletion of an upload by tus',
    before,
    upload: { protocol: tus, file, before: piece, after: 'discarded' },
    request: (url, _site, path) => tus.discard(url, path),
    answer: [204, ''],
  },
  {
    title: 'the sweep of an upload that has expired',
    before,
    upload: { protocol: tus, file, before: piece, after: 'expired' },
  },
  begin(
    {
      title: 'the first piece by the draft',
      ...{ protocol: draft, status: 201 },
      kills: ['upload-begun', 'upload-offset-synced', 'answer-ready'],
    },
    piece,
  ),
  {
    title: 'the last piece of a create-only upload by the draft',
    before,
    changes: [{ [created.name]: created.content }],
    upload: { protocol: draftCreateOnly, file: created, before: 2 * piece, after: whole },
    request: (url, _site, path) =>
      draft.append(url, path, created, { begin: 2 * piece, end: whole }),
    answer: [200, ''],
    kills: ['upload-link-noted', 'upload-published'],
  },
  append(
    {
      title: 'the last piece by the draft',
      ...{ protocol: draft, status: 200 },
      kills: ['upload-offset-synced', 'named', 'answer-ready'],
    },
    [2 * piece, whole],
  ),
]
