import type { Part } from '../write/gather-parts.ts'
import type { NewPart, PartLedger } from './part-ledger.ts'

/** Stores the parts of one append, several at a time, and records them in their order. */
export interface PartSender {
  /** Begins to store a part; waits first while too much is not recorded. */
  send(part: NewPart, bytes: Part): Promise<void>
  /** Resolves when all parts are stored or have failed. */
  settled(): Promise<void>
  /** Records what is stored without a gap. @throws what has failed */
  recordAll(): Promise<void>
  readonly hasFailed: () => boolean
  /** The names of the parts that were sent. */
  readonly names: () => readonly string[]
}

export interface PartSenderOptions {
  readonly store: (name: string, part: Part) => Promise<void>
  /** Nothing can be added any more. */
  readonly onFailure: (error: unknown) => void
}

interface SentPart extends NewPart {
  readonly name: string
  isStored: boolean
}

const MiB = 1024 * 1024

/** How much may be on its way or stored without being recorded; with the part that is gathered, at most 64 MiB. */
const mostUnrecorded = 40 * MiB

/** Records parts as soon as they are stored, or, with `waits`, only when `recordAll` is called. */
export function createPartSender(
  ledger: PartLedger,
  waits: boolean,
  { store, onFailure }: PartSenderOptions,
): PartSender {
  const unrecorded: SentPart[] = []
  const names: string[] = []
  const storing: Promise<void>[] = []
  let recording = Promise.resolve()
  let isLost = false
  let failure: { readonly error: unknown } | undefined
  let wake = () => {}

  const fail = (error: unknown) => {
    failure ??= { error }
    onFailure(error)
    wake()
  }

  /** Records what is stored, up to the first part that is not. */
  async function recordStored(): Promise<void> {
    const end = unrecorded.findIndex(({ isStored }) => !isStored)
    const stored = unrecorded.slice(0, end === -1 ? unrecorded.length : end)
    if (stored.length === 0 || isLost) return
    try {
      await ledger.add(stored)
      unrecorded.splice(0, stored.length)
      wake()
    } catch (error) {
      isLost = true
      fail(error)
    }
  }

  /** One request at a time: what is stored meanwhile goes into the next one together. */
  const queueRecording = () => (recording = recording.then(recordStored))

  async function storePart(sent: SentPart, part: Part): Promise<void> {
    try {
      await store(sent.name, part)
      sent.isStored = true
      if (!waits) void queueRecording()
    } catch (error) {
      fail(error)
    }
  }

  const isFull = (size: number) =>
    unrecorded.length > 0 &&
    size + unrecorded.reduce((sum, { run }) => sum + run.size, 0) > mostUnrecorded

  return {
    async send(part, bytes) {
      while (!waits && !failure && isFull(part.run.size)) {
        await new Promise<void>((resolve) => (wake = resolve))
      }
      if (failure) return bytes.release()
      const name = `${part.run.by}-${part.run.first}`
      names.push(name)
      const sent = { ...part, name, isStored: false }
      unrecorded.push(sent)
      storing.push(storePart(sent, bytes))
    },
    async settled() {
      await Promise.all(storing)
      await recording
    },
    async recordAll() {
      if (!(waits && failure)) await queueRecording()
      if (failure) throw failure.error
    },
    hasFailed: () => failure !== undefined,
    names: () => names,
  }
}
