import type { Answer, Client, Question } from './client.ts'
import { contentOf, digestOf } from './content.ts'
import { fine, outcomeOf, type Journal } from './journal.ts'
import type { Ledger } from './ledger.ts'

export interface BusyClientOptions {
  /** As a customer of its own. */
  readonly client: Client
  readonly name: string
  readonly ledger: Ledger
  readonly journal: Journal
}

const KiB = 1024
/** More than a part, so that it is a multipart upload to MinIO. */
const large = 9 * KiB * KiB

/** The work of one customer. It repeats nothing; each step is one request. */
export function createBusyClient({ client, name, ledger, journal }: BusyClientOptions) {
  const upload = (kind: string, file: string, step: number, size: number, ask = put) =>
    journal.record(kind, async () => {
      const content = contentOf(`${name} ${step}`, size)
      const digest = digestOf(content)
      ledger.begin(file, digest)
      const answer = await ask(client, file, content)
      if (answer.status === 200) ledger.acknowledge(file, digest)
      return outcomeOf(answer)
    })

  const download = (kind: string, step: number, isLarge: boolean) => {
    const files = ledger.acknowledged().filter((file) => file.startsWith('large') === isLarge)
    const file = files[step % files.length] ?? ''
    return journal.record(kind, async () => {
      const answer = await client.ask(`/serve/${file}`)
      if (answer.status !== 200) return outcomeOf(answer)
      return ledger.allows(file, answer.digest) ? fine : `DAMAGED ${file}`
    })
  }

  const steps = [
    (step: number) => upload('small, PUT', `small-${step % 3}`, step, 1 + (step % 64) * KiB),
    (step: number) => upload('large, PUT', `large-${step % 4}`, step, large + step),
    (step: number) => upload('small, form', `small-${step % 5}`, step, 1 + (step % 64) * KiB, post),
    (step: number) => download('small, download', step, false),
    (step: number) => upload('large, form', `large-${step % 4}`, step, large + step, post),
    (step: number) => download('large, download', step, true),
    (step: number) => upload('small, create-only', `once-${step}`, step, 5 * KiB, create),
    (step: number) => upload('large, create-only', `large-once-${step}`, step, large, create),
  ]

  return (step: number) => (steps[step % steps.length] ?? steps[0])?.(step)
}

type Ask = (client: Client, file: string, content: Uint8Array) => Promise<Answer>

const put: Ask = (client, file, content) => send(client, file, { body: content })

const create: Ask = (client, file, content) =>
  send(client, file, { body: content, headers: { 'if-none-match': '*' } })

function send(client: Client, file: string, question: Question): Promise<Answer> {
  return client.ask(`/upload/${file}`, { method: 'PUT', ...question })
}

const post: Ask = (client, file, content) => {
  const disposition = `Content-Disposition: form-data; name="file"; filename="${file}"`
  const head = `--limit\r\n${disposition}\r\n\r\n`
  return client.ask('/upload', {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=limit' },
    body: Buffer.concat([Buffer.from(head), content, Buffer.from('\r\n--limit--\r\n')]),
  })
}
