import { join } from 'node:path'
import { credentials } from '../subjects/holdfast.ts'
import type { RunningSubject } from '../subjects/subject.ts'
import type { Client } from './client.ts'

/** The client of the same checkout as the server, if that has one. What it remembers is kept below `directory`. */
export function holdfastClient(server: RunningSubject, directory: string): Client {
  const [command = process.execPath, ...program] = server.client ?? []
  const environment = {
    HOLDFAST_URL: `http://127.0.0.1:${server.port}`,
    HOLDFAST_NAME: credentials['x-auth-name'],
    HOLDFAST_PASSWORD: credentials['x-auth-password'],
    XDG_STATE_HOME: join(directory, 'state'),
  }
  const verb = (args: readonly string[]) => ({ command, args: [...program, ...args], environment })
  return {
    name: server.name,
    server,
    put: ({ names }) => verb(['put', ...names]),
    get: ({ prefix }) => verb(['get', `${prefix}*`]),
  }
}
