import { credentials } from '@holdfast/testing'
import { expect } from 'chai'
import { withSeed } from '../with-seed.ts'
import { expectLinearizable } from './expect-linearizable.ts'
import { runClients, type ClientRun } from './run-clients.ts'
import { publishedBy } from './upload-history.ts'

type Chosen = 'urls' | 'rounds'

export interface Trial
  extends Pick<ClientRun, Chosen>, Partial<Omit<ClientRun, Chosen | 'credentials' | 'seed'>> {
  readonly headers?: ClientRun['credentials']
}

/** Runs clients at servers, and passes when their answers make sense, those of uploads in pieces among them. */
export async function expectSense(trial: Trial): Promise<void> {
  await withSeed((seed) => expectSenseOf(trial, seed))
}

/** The same, with choices of this seed. */
export async function expectSenseOf(
  { headers = credentials, ...trial }: Trial,
  seed: number,
): Promise<void> {
  const run = { clients: 5, operations: 8, credentials: headers, ...trial, seed }
  const counts = { published: 0, refused: 0 }
  for await (const history of runClients(run)) {
    expectLinearizable(history)
    counts.published += history.uploads.filter((one) => publishedBy(one).length > 0).length
    const events = history.uploads.flatMap((one) => one.events)
    counts.refused += events.filter(({ outcome }) => outcome === 'refused').length
  }
  expect(Math.min(...Object.values(counts)), JSON.stringify(counts)).to.be.above(0)
}
