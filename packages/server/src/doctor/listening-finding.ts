import { once } from 'node:events'
import { createServer } from 'node:net'
import { adviceOf, finding, type Finding } from '@holdfast/core'
import { explainListening, type ListeningPlace } from '../listen/explain-listening.ts'
import { adviceFinding } from './advice-finding.ts'

/** Whether this process could listen at `place`, as the server is to, tried for a moment. */
export async function listeningFinding(check: string, place: ListeningPlace): Promise<Finding> {
  const { host, port } = place
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
    return finding('ok', check, port === 0 ? `on ${host}, any port` : `on ${host} port ${port}`)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') {
      return finding('skipped', check, `${host} port ${port} is taken: by the server, if it runs`)
    }
    return adviceFinding('problem', check, adviceOf(explainListening(error, place)))
  } finally {
    server.close()
  }
}
