import { channel } from 'node:diagnostics_channel'

/**
 * The steps by which a disk store changes its directory, each named after what has just been done. They are published
 * on the diagnostics channel `holdfast:store-disk:step`, as these strings and while the store waits, so that a
 * subscriber may look at the directory, or end the process, right there.
 */
export const diskSteps = [
  // Opening a directory: the first and the marker's for a new one, a pair of left-overs' for each dead owner.
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

/** One of {@link diskSteps}. */
export type DiskStep = (typeof diskSteps)[number]

const steps = channel('holdfast:store-disk:step')

/** Tells subscribers, if there are any, that `name` has just been done. */
export function crashPoint(name: DiskStep): void {
  // Without a subscriber this is a call of an empty function.
  steps.publish(name)
}
