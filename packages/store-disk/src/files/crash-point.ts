import { channel } from 'node:diagnostics_channel'

/**
 * The crash points of a disk store, each named after the change that it has just made. The store publishes them, as these strings, on the
 * diagnostics channel `holdfast:store-disk:step`. Subscribers run synchronously: a test can inspect the directory, or kill the process, at
 * each of them.
 */
export const diskCrashPoints = [
  // Opening a directory. A new one has the first and those of the marker (the layout file); each dead owner has a pair of left-overs.
  'data-directory-made',
  'instance-made',
  'left-overs-found',
  'left-overs-removed',
  'name-trial-written',
  'marker-written',
  'marker-linked',
  'marker-synced',
  'opened',
  // Making the directory of all files, or of a customer. It is synced even if it existed already.
  'directory-made',
  'directory-synced',
  // A put. Small content is written when it has ended. Only a create-only put has a second name.
  'temporary-made',
  'content-written',
  'content-ended',
  'content-synced',
  'temporary-closed',
  'named',
  'second-name-removed',
  'name-synced',
  // A put that failed.
  'discarded',
  // A deletion.
  'name-removed',
  'removal-synced',
  // A rename reaches those of a put from `named` on. A create-only one notes first that the file is about to have two names.
  'rename-noted',
  'first-name-moved-away',
] as const

/** The crash points of earlier versions, published on the same channel, beside those of {@link diskCrashPoints}. */
export const diskHistoryCrashPoints = [
  // Before a file gets the name of a blob; and before a file without a version name loses the name of its blob.
  'version-named',
  // A rename, a put that failed, and a purge.
  'version-removed',
  // A purge.
  'version-removal-synced',
] as const

/** The crash points of uploads in pieces, published on the same channel. Such uploads also reach those of {@link diskCrashPoints}. */
export const diskUploadCrashPoints = [
  // Remembering an upload that arrived whole.
  'upload-remembered',
  // Begin.
  'upload-prepared',
  'upload-named',
  'upload-begun',
  // Each append. The name of the content records its owner and, after each sync, the number of durable bytes.
  'upload-taken',
  'upload-content-synced',
  'upload-offset-named',
  'upload-offset-synced',
  'upload-released',
  // Copying a content whose silent owner may come back.
  'upload-copied',
  'upload-copy-named',
  // Replacing the record: to add a declared length, or the blob that the content will become.
  'upload-record-replaced',
  'upload-record-synced',
  // Publishing create-only, before the steps of a put.
  'upload-link-noted',
  // Publishing, after the steps of a put.
  'upload-published',
  // A discard, and each removal by a sweep.
  'upload-moved-away',
  'upload-removal-synced',
] as const

/** One of all crash points. */
export type DiskCrashPoint =
  | (typeof diskCrashPoints)[number]
  | (typeof diskUploadCrashPoints)[number]
  | (typeof diskHistoryCrashPoints)[number]

const steps = channel('holdfast:store-disk:step')

/** Publishes that the crash point `name` has been reached. */
export function crashPoint(name: DiskCrashPoint): void {
  // Without a subscriber this is a call of an empty function.
  steps.publish(name)
}
