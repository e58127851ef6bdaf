import { connect } from 'node:tls'
import { once } from 'node:events'
import { peers, securePeers } from '../subjects/all-subjects.ts'
import type { RunningSubject, Subject } from '../subjects/subject.ts'
import { writeCertificate } from '../subjects/write-certificate.ts'
import type { Bench } from './scenario.ts'

/** What requests go over in a scenario. */
export interface Over {
  /** What the names of its scenarios begin with, and their titles end with. */
  readonly prefix: string
  readonly suffix: string
  /** Starts the servers that are measured over it, and `floors` beside them. */
  start(bench: Bench, floors?: readonly Subject[]): Promise<readonly RunningSubject[]>
}

export const overHttp: Over = {
  prefix: '',
  suffix: '',
  start: (bench, floors = []) => bench.start([...bench.holdfasts, ...peers, ...floors]),
}

/** With one certificate for all, and what client and server agree on by default. */
export const overHttps: Over = {
  prefix: 'tls-',
  suffix: ' over HTTPS',
  start: async (bench, floors = []) => {
    const tls = await writeCertificate(bench.directory)
    const all = await bench.start([...bench.holdfasts, ...securePeers, ...floors], { tls })
    const agreed = new Set(await Promise.all(all.map(({ port }) => agreementWith(port))))
    if (agreed.size > 1) throw new Error(`The servers differ: ${[...agreed].join(', ')}`)
    return all
  },
}

/** Protocol and cipher that a client with the defaults of OpenSSL agrees on. */
async function agreementWith(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const agreement = `${socket.getProtocol()} ${socket.getCipher().name}`
  socket.destroy()
  return agreement
}
