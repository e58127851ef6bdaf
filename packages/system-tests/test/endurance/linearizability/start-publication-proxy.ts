import { setTimeout as delay } from 'node:timers/promises'
import { createChoices } from '../soak/choices.ts'
import { startProxy, type Pass, type ProxiedRequest, type Proxy } from './start-proxy.ts'

/** A proxy in front of MinIO that delays and doubles what uploads in pieces send, and kills the server that sends it. */
export interface PublicationProxy extends Proxy {
  /**
   * Begins to disturb requests, up to the next completion that MinIO confirms: then the server is killed. Before, all requests pass: a
   * server that starts may find that uploads in pieces cannot be kept here.
   */
  readonly arm: () => void
  /** How often requests met which fate. */
  readonly counts: () => Readonly<Record<Fate, number>>
}

const weights = { passed: 50, late: 15, doubled: 15, held: 20 } as const

type Fate = keyof typeof weights

/** The longest delay, in milliseconds. */
const longest = 300

/**
 * Starts one on 127.0.0.1. It disturbs only requests that MinIO carries out at most once: the completion of a multipart upload, and
 * the conditional replacement of a record. `late` ones arrive after their connection has broken, of `doubled` ones a copy arrives
 * later, and the answer to `held` ones comes later. `kill` ends the server that uses this proxy.
 */
export async function startPublicationProxy(
  target: string,
  seed: number,
  kill: () => Promise<void>,
): Promise<PublicationProxy> {
  const choices = createChoices(seed, 'publications')
  const counts = { passed: 0, late: 0, doubled: 0, held: 0 }
  const pending = new Set<Promise<unknown>>()
  let isDisturbing = false
  let isArmed = false

  const forwardLater = ({ forward }: ProxiedRequest): void => {
    const work = delay(choices.below(longest)).then(forward)
    const settled = work.catch(() => {}).finally(() => pending.delete(settled))
    pending.add(settled)
  }

  const pass: Pass = async (incoming) => {
    const isEnd = isCompletion(incoming)
    if (!isDisturbing || !(isEnd || isReplacement(incoming))) return incoming.forward()
    const fate = choices.weighted(weights)
    counts[fate]++
    if (fate === 'late' || fate === 'doubled') forwardLater(incoming)
    if (fate === 'late') return undefined
    const answer = await incoming.forward()
    if (isArmed && isEnd && answer.status === 200) {
      isDisturbing = false
      isArmed = false
      await kill()
      return undefined
    }
    if (fate === 'held') await delay(choices.below(longest))
    return answer
  }
  const proxy = await startProxy(target, pass)
  return {
    ...proxy,
    arm() {
      isDisturbing = true
      isArmed = true
    },
    counts: () => counts,
    async [Symbol.asyncDispose]() {
      await Promise.all(pending)
      await proxy[Symbol.asyncDispose]()
    },
  }
}

function isCompletion({ method, url }: ProxiedRequest): boolean {
  return method === 'POST' && new URL(url, 'http://minio').searchParams.has('uploadId')
}

function isReplacement({ method, headers }: ProxiedRequest): boolean {
  return method === 'PUT' && headers['if-match'] !== undefined
}
