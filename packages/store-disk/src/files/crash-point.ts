import { channel } from 'node:diagnostics_channel'

/**
 * The crash points of a disk store, each named after the change that it has just made. The store publishes them on the
 * diagnostics channel `holdfast:store-disk:step`, as these strings, and waits for the subscriber: a test can inspect the
 * directory, or kill the process, at each of them.
 */
export const diskSteps = [
  // Opening a directory: the first and those of the marker (the layout file) for a new one, a pair for each dead owner.
  'data-directory-made',
  'instance-made',
  'left-overs-found',
  'left-overs-removed',
  'name-trial-written',
  'marker-written',
  'marker-linked',
  'marker-synced',
  'opened',
  // Making the directory of all files, or of a customer, which is synced even where it was there already.
  'directory-made',
  'directory-synced',
  // A put. What is small is written when the content has ended; the second name is a create-only put's.
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
] as const

/**
 * The crash points of uploads in pieces, beside those of {@link diskSteps} that they go through, too. They are published on
 * the same channel.
 */
export const diskUploadSteps = [
  // What is kept of a blob that came as a whole.
  'upload-remembered',
  // Begin.
  'upload-prepared',
  'upload-named',
  'upload-begun',
  // Each append: the name of the content says who owns it, and with each sync how many bytes are durable.
  'upload-taken',
  'upload-content-synced',
  'upload-offset-named',
  'upload-offset-synced',
  'upload-released',
  // A content that has to be copied, since its silent owner may come back.
  'upload-copied',
  'upload-copy-named',
  // The record: a length that is declared, or the blob that the content is about to become.
  'upload-record-replaced',
  'upload-record-synced',
  // Publishing, after the steps of a put.
  'upload-published',
  // Discard, and what a sweep removes.
  'upload-moved-away',
  'upload-removal-synced',
] as const

/** One of {@link diskSteps} or of {@link diskUploadSteps}. */
export type DiskStep = (typeof diskSteps)[number] | (typeof diskUploadSteps)[number]

const steps = channel('holdfast:store-disk:step')

/** Publishes that the crash point `name` has been reached. */
export function crashPoint(name: DiskStep): void {
  // Without a subscriber this is a call of an empty function.
  steps.publish(name)
}
