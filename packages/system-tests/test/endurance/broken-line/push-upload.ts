import { request, type IncomingHttpHeaders } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { credentials } from '@holdfast/testing'
import { expect } from 'chai'
import type { Choices } from '../soak/choices.ts'
import { placedContent } from './placed-content.ts'

export interface Push {
  /** Where the upload is, through the broken line. */
  readonly url: string
  /** Bytes of the whole. */
  readonly length: number
  readonly choices: Choices
  /** Resolves when there is a server to send to. */
  readonly ready: () => Promise<void>
  /** Called with the place up to which bytes have been sent; says whether something has happened to the server because of it. */
  readonly onSent: (place: number) => boolean
}

export interface Pushed {
  /** Appends that were acknowledged, bytes that were sent in all, and looks at the offset. */
  readonly appends: number
  readonly bytes: number
  readonly looks: number
  /** How often each other status came. */
  readonly refusals: Readonly<Record<number, number>>
}

const protocol = { ...credentials, 'Tus-Resumable': '1.0.0' }
const MiB = 1024 ** 2

/** Longer than any answer takes: a server that holds an upload for a client that has gone away would. */
const patienceMs = 120_000

/** Between two looks where there was no answer. */
const pauseMs = 10

/**
 * Sends an upload as a client of tus does that never gives up: it appends as long as that is acknowledged, and otherwise asks
 * where to go on. Checks that no offset goes back.
 */
export async function pushUpload({ url, length, choices, ready, onSent }: Push): Promise<Pushed> {
  const counts = { appends: 0, bytes: 0, looks: 0, refusals: {} as Record<number, number> }
  const upload = { acknowledged: 0, isKnown: false }

  const refuse = (status: number) => {
    expect(status, 'a refusal').to.be.oneOf([409, 503])
    counts.refusals[status] = (counts.refusals[status] ?? 0) + 1
    return delay(pauseMs)
  }
  const look = async () => {
    counts.looks++
    const answer = await ask(url, 'HEAD', {})
    // Where no worker listens, the next one will soon.
    if (answer === undefined) return delay(pauseMs)
    if (answer.status !== 200) return refuse(answer.status)
    expect(answer.offset, 'an offset after one that was acknowledged').to.be.within(
      upload.acknowledged,
      length,
    )
    upload.acknowledged = answer.offset
    upload.isKnown = true
  }
  const append = async () => {
    const end = Math.min(length, upload.acknowledged + sizeOfPiece(choices))
    upload.isKnown = false
    const answer = await ask(
      url,
      'PATCH',
      {
        'Content-Type': 'application/offset+octet-stream',
        'Upload-Offset': String(upload.acknowledged),
        'Content-Length': String(end - upload.acknowledged),
      },
      passing(upload.acknowledged, end),
    )
    if (answer === undefined) return
    if (answer.status !== 204) return refuse(answer.status)
    expect(answer.offset, 'the offset of an acknowledged append').to.equal(end)
    counts.appends++
    upload.acknowledged = end
    upload.isKnown = true
  }
  function* passing(begin: number, end: number) {
    let place = begin
    for (const chunk of placedContent(begin, end)) {
      yield chunk
      place += chunk.length
      counts.bytes += chunk.length
      onSent(place)
    }
  }

  for (;;) {
    await ready()
    if (!upload.isKnown) await look()
    else if (upload.acknowledged < length) await append()
    // What is left to happen happens to an upload that is published.
    else if (onSent(length)) upload.isKnown = false
    else return counts
  }
}

/** From a byte to 48 MiB, most of them small. */
function sizeOfPiece(choices: Choices): number {
  return choices.weighted({ tiny: 1, small: 3, large: 3 }) === 'large'
    ? choices.between(4 * MiB, 48 * MiB)
    : choices.pick([1, 1000, MiB, 3 * MiB + 1, 5 * MiB])
}

interface Answer {
  readonly status: number
  readonly offset: number
}

/** `undefined` if the connection ended before there was an answer. */
function ask(
  url: string,
  method: string,
  headers: IncomingHttpHeaders,
  body: Iterable<Buffer> = [],
): Promise<Answer | undefined> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, agent: false, headers: { ...protocol, ...headers } })
    const patience = setTimeout(() => {
      reject(new Error(`No answer to ${method} within ${patienceMs} ms`))
      outgoing.destroy()
    }, patienceMs)
    const end = (answer?: Answer) => {
      clearTimeout(patience)
      outgoing.destroy()
      resolve(answer)
    }
    outgoing.on('error', () => end()).on('close', () => end())
    outgoing.on('response', ({ statusCode = 0, headers }) => {
      end({ status: statusCode, offset: Number(headers['upload-offset'] ?? NaN) })
    })
    const chunks = body[Symbol.iterator]()
    const send = () => {
      for (;;) {
        if (outgoing.destroyed) return
        const next = chunks.next()
        if (next.done === true) return void outgoing.end()
        if (!outgoing.write(next.value)) return void outgoing.once('drain', send)
      }
    }
    send()
  })
}
