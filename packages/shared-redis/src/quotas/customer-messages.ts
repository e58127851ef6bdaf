import { randomUUID } from 'node:crypto'
import type { Engine } from '../engine/engine.ts'

type Topic = 'counted' | 'lease'

/** What servers send each other about a customer's account. Messages may be lost. */
export interface CustomerMessages {
  /** Sends a message to the others. */
  send(topic: Topic, customer: string): void
  /** Resolves at the next such message, or after a twentieth of a second. */
  next(topic: Topic, customer: string): Promise<void>
  /**
   * Asks servers to report what they have changed, and to give back what they do not use. Resolves when all have done so that are alive,
   * or after a second.
   */
  askAll(customer: string, servers: readonly string[]): Promise<void>
}

export interface CustomerListeners {
  /** Called for the question of `askAll`; what it returns is awaited before the answer. */
  readonly onAsked: (customer: string) => Promise<void>
  /** Called when another server has counted the store. */
  readonly onCounted: (customer: string) => void
}

/** How long to wait for a message before looking again, in milliseconds. */
const pauseMs = 50

/** How long other servers may take to give back what they do not use, in milliseconds. */
const answerWithinMs = 1_000

interface Question {
  readonly missing: Set<string>
  readonly resolve: () => void
}

export function createCustomerMessages(
  engine: Engine,
  { onAsked, onCounted }: CustomerListeners,
): CustomerMessages {
  const waiting = new Map<string, Set<() => void>>()
  const questions = new Map<string, Question>()
  const wake = (topic: Topic, customer: string) => {
    const key = `${topic} ${customer}`
    for (const resolve of waiting.get(key) ?? []) resolve()
    waiting.delete(key)
  }

  engine.onMessage('counted', (message) => {
    if (typeof message !== 'string') return
    wake('counted', message)
    onCounted(message)
  })
  engine.onMessage('give-back', (message) => {
    const { id, customer } = message as { id: string; customer: string }
    void onAsked(customer).then(() => engine.notify('given-back', id))
  })
  engine.onMessage('given-back', (message, server) => {
    const question = questions.get(String(message))
    question?.missing.delete(server)
    if (question?.missing.size === 0) question.resolve()
  })

  return {
    send: (topic, customer) => engine.notify(topic, customer),
    async next(topic, customer) {
      const { promise, resolve } = Promise.withResolvers<undefined>()
      const key = `${topic} ${customer}`
      const resume = () => resolve(undefined)
      const all = waiting.get(key) ?? new Set()
      waiting.set(key, all.add(resume))
      const timer = setTimeout(resume, pauseMs)
      await promise
      clearTimeout(timer)
      all.delete(resume)
      if (all.size === 0 && waiting.get(key) === all) waiting.delete(key)
    },
    async askAll(customer, servers) {
      const missing = new Set(servers.filter((server) => !engine.servers.isDead(server)))
      if (missing.size === 0 || engine.isAway()) return
      const id = randomUUID()
      const { promise, resolve } = Promise.withResolvers<undefined>()
      questions.set(id, { missing, resolve: () => resolve(undefined) })
      const timer = setTimeout(() => resolve(undefined), answerWithinMs)
      engine.notify('give-back', { id, customer })
      await promise
      clearTimeout(timer)
      questions.delete(id)
    },
  }
}
