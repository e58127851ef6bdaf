import { expect } from 'chai'
import type { WireAnswer } from './answers.ts'
import { expectSound } from './expect-sound.ts'
import type { Subject } from './fuzz-target.ts'
import { password, startFuzzService } from './fuzz-service.ts'
import { filesNow, setFiles } from './kept-files.ts'
import { demoRequest } from './requests.ts'
import { exchangeAll, keepConnection } from './wire.ts'

/** Bytes for a connection. */
export interface RawInput {
  readonly bytes: Buffer
  /** That whoever sends them has not logged in, though the password may be among them. */
  readonly isStranger?: boolean
}

const demoFiles = new Map([
  ['a.txt', Buffer.from('content of a')],
  ['b', Buffer.from('content of b')],
])
const secret = 'for the eyes of the other only'
const otherFiles = new Map([
  ['a.txt', Buffer.from(secret)],
  ['secret.txt', Buffer.from(secret)],
])

/**
 * A server that gets any bytes on a connection of their own, as long as no more come behind them. All that it answers
 * is sound; nobody sees or changes a file of the customer `other`; strangers get nothing and change nothing.
 */
export async function openRawSubject(): Promise<Subject<RawInput>> {
  const service = await startFuzzService()
  const connection = keepConnection(service.port)
  await setFiles(service.other, otherFiles)

  return {
    async check({ bytes, isStranger = !bytes.includes(password) }) {
      await setFiles(service.demo, demoFiles)
      const answers = await exchangeAll(service.port, bytes)
      service.throwFault()
      const mayBeHead = bytes.includes('HEAD')
      for (const answer of answers) {
        expectSound(answer, mayBeHead)
        expect(answer.body.includes(secret), "content of another's").to.equal(false)
        if (isStranger) expectNothing(answer)
      }
      expect(await filesNow(service.other), "another's files").to.deep.equal(otherFiles)
      if (isStranger) expect(await filesNow(service.demo), 'files').to.deep.equal(demoFiles)
      const next = await connection.ask(demoRequest('GET', '/ping'))
      expect(next.body.toString(), 'what the next one gets').to.equal('pong')
    },
    async close() {
      connection.close()
      await service.close()
    },
  }
}

/** All that a stranger may get: a refusal, a `pong`, and the methods of a path. */
function expectNothing({ status, headers, body }: WireAnswer): void {
  if (status >= 400) return
  const isPong = status === 200 && headers.get('content-length') === '4'
  const isOptions = status === 204 && headers.has('allow')
  const text = `a stranger gets ${status} ${body.toString('latin1')}`
  expect(isPong || isOptions, text).to.equal(true)
}
