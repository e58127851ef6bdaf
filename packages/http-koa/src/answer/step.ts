import { channel } from 'node:diagnostics_channel'

/**
 * The steps of a request that matter to what is stored, each named after what has just happened. They are published on
 * the diagnostics channel `holdfast:http-koa:step`, as these strings and before anything else happens, so that a
 * subscriber may look at the store, or end the process, right there.
 */
export const httpSteps = [
  // POST /upload: the closing boundary has been read, and nothing is published yet.
  'form-complete',
  // Whatever the answer is, its status is certain and nothing of it has been sent.
  'answer-ready',
] as const

/** One of {@link httpSteps}. */
export type HttpStep = (typeof httpSteps)[number]

const steps = channel('holdfast:http-koa:step')

/** Publishes that `name` has just happened. */
export function step(name: HttpStep): void {
  // Without a subscriber this is a call of an empty function.
  steps.publish(name)
}
