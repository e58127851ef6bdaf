import type { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { ask, type Answer, type Question } from '../soak/ask.ts'
import type { Choices } from '../soak/choices.ts'

/** What came of a request. */
export interface Delivery {
  readonly answer: Answer
  /** Whether a copy of the request reaches the server, too, at any time after the client has begun it. */
  readonly isDoubled: boolean
}

/** Servers that keep the same files. */
export type Urls = readonly [string, ...string[]]

/** What is between clients and servers. */
export interface Network {
  /** Sends a request to one of the servers; `choices` decide to which, and what becomes of it. */
  readonly send: (
    urls: Urls,
    agent: Agent | false,
    question: Question,
    choices: Choices,
  ) => Promise<Delivery>
  /** Resolves when all late requests and copies have been answered. */
  readonly settled: () => Promise<void>
}

/** A network that delivers each request once. */
export const soundNetwork: Network = {
  send: async (urls, agent, question, choices) => ({
    answer: await ask(choices.pick(urls), agent, question),
    isDoubled: false,
  }),
  settled: async () => {},
}

/** A network that stops in the middle of some requests, for `mostMs` milliseconds at the most. */
export function createSlowNetwork(mostMs: number): Network {
  return {
    ...soundNetwork,
    send(urls, agent, question, choices) {
      const isSlow = question.body !== undefined && choices.chance(50)
      const pauseMs = isSlow ? choices.between(1, mostMs) : 0
      return soundNetwork.send(urls, agent, { ...question, pauseMs }, choices)
    },
  }
}

/** The longest time that a request is late, in milliseconds: most of a round. */
const mostLate = 60

/** A network that breaks the connection of some requests and delivers them later, and delivers copies of some others. */
export function createFaultyNetwork(): Network & { readonly counts: () => Counts } {
  const pending = new Set<Promise<unknown>>()
  const counts = { late: 0, doubled: 0 }

  /** On a connection of its own, which other requests do not wait for. */
  const deliverLater = (urls: Urls, question: Question, choices: Choices): void => {
    const url = choices.pick(urls)
    const late = delay(choices.below(mostLate)).then(() => ask(url, false, question))
    pending.add(late)
    void late.finally(() => pending.delete(late))
  }

  return {
    async send(urls, agent, question, choices) {
      const fate = choices.weighted({ sound: 60, late: 20, doubled: 20 })
      if (fate === 'sound') return soundNetwork.send(urls, agent, question, choices)
      counts[fate]++
      deliverLater(urls, question, choices)
      if (fate === 'late') return { answer: noAnswer, isDoubled: false }
      return { answer: await ask(choices.pick(urls), agent, question), isDoubled: true }
    },
    settled: async () => void (await Promise.all(pending)),
    counts: () => counts,
  }
}

interface Counts {
  readonly late: number
  readonly doubled: number
}

const noAnswer: Answer = {
  ...{ status: 0, headers: {}, body: Buffer.alloc(0), isWhole: false },
  problem: 'The network broke the connection',
}
