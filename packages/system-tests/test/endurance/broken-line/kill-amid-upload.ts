import { credentials, type HoldfastServer } from '@holdfast/testing'
import { expect } from 'chai'
import { digestOf, serve } from '../large-content.ts'
import { createChoices } from '../soak/choices.ts'
import { placedContent } from './placed-content.ts'
import { pushUpload } from './push-upload.ts'
import { startBrokenLine } from './start-broken-line.ts'
import { startMortalServer } from './start-mortal-server.ts'

export interface KillPlan {
  readonly seed: number
  /** Bytes of the upload. */
  readonly length: number
  readonly kills: number
  readonly start: () => Promise<HoldfastServer>
}

export interface KillReport {
  /** MiB that a process of the server grew by, at the most. */
  readonly growthMiB: number
  /** In one line. */
  readonly figures: string
}

/** The name of the file that is uploaded. */
export const fileName = 'large.bin'

/** Has a server be killed within one upload over a broken line, and checks what arrives. */
export async function killAmidUpload({
  seed,
  length,
  kills,
  start,
}: KillPlan): Promise<KillReport> {
  const begun = performance.now()
  const choices = createChoices(seed, 'kills')
  await using line = await startBrokenLine(seed)
  await using server = await startMortalServer(start, choices, ({ port }) => line.lead(port))
  const digest = await digestOf(placedContent(0, length))
  const path = await begin(server.url(), length, digest)

  // One in each of as many stretches of the upload, and the last one when all has been sent.
  const stretch = length / kills
  const places = Array.from({ length: kills }, (_, index) =>
    index === kills - 1 ? length : Math.floor(index * stretch) + choices.below(Math.ceil(stretch)),
  )
  const onSent = (place: number) => {
    const next = places[0]
    if (next === undefined || place < next) return false
    if (server.isUp()) {
      places.shift()
      server.kill()
    }
    return true
  }
  const url = `http://127.0.0.1:${line.port}${path}`
  const pushed = await pushUpload({
    ...{ url, length, onSent },
    choices: createChoices(seed, 'pieces'),
    ready: () => server.ready(),
  }).catch((error: unknown) => {
    const errors = server.errors().map((line) => JSON.stringify(line))
    throw new Error([String(error), ...errors].join('\n'), { cause: error })
  })
  await server.ready()
  expect(places, 'kills to come').to.deep.equal([])
  expect(await digestOf(await serve(server.url(), fileName)), 'SHA-256').to.equal(digest)
  // What the line has doubled gets a conflict, or takes part. One whose client went away amid it is not complete.
  const answers = [200, 204, 400, 409, 503]
  expect(line.duplicates.filter((status) => !answers.includes(status))).to.deep.equal([])
  expect(await server.stop()).to.equal(0)
  const { servers, workers } = server.kills()
  expect(servers + workers).to.equal(kills)
  const { passed, ...bad } = line.fates
  const figures = [
    `${servers} kills of servers and ${workers} of workers within ${length / 1024 ** 2} MiB`,
    `${passed} connections passed, ${Object.entries(bad)
      .map(([fate, count]) => `${count} ${fate}`)
      .join(', ')}`,
    `${line.duplicates.length} duplicates answered`,
    `${pushed.appends} appends acknowledged, ${Math.round(pushed.bytes / 1024 ** 2)} MiB sent, ${pushed.looks} looks`,
    `refusals ${JSON.stringify(pushed.refusals)}`,
    `${Math.round(server.growthMiB())} MiB more at most`,
    `${Math.round((performance.now() - begun) / 1000)} s`,
  ]
  return { growthMiB: server.growthMiB(), figures: figures.join('; ') }
}

/** Begins the upload, not over the line: a client whose beginning is lost begins another one. */
async function begin(url: string, length: number, sha256: string): Promise<string> {
  const value = (text: string) => Buffer.from(text).toString('base64')
  const answer = await fetch(`${url}/resumable`, {
    method: 'POST',
    headers: {
      ...credentials,
      'Tus-Resumable': '1.0.0',
      'Upload-Length': String(length),
      'Upload-Metadata': `filename ${value(fileName)},sha256 ${value(sha256)}`,
    },
  })
  expect(answer.status).to.equal(201)
  return new URL(answer.headers.get('location') ?? '', `${url}/resumable`).pathname
}
