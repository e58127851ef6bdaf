import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCustomersFile } from '@holdfast/credentials-file'
import { generatePassword, hashPassword } from '@holdfast/passwords'
import pino from 'pino'
import { resolveConfig, startServer } from '../../../server/src/index.ts'

/** A server as `scripts/start` leaves it, with a directory for the reader beside it. */
export interface DocumentedServer {
  readonly origin: string
  /** The password of the customer `demo`. */
  readonly password: string
  /** An empty directory to run commands in. */
  readonly directory: string
  close(): Promise<void>
}

/** Starts a server on a free port, with a new data directory and the customer `demo`, and else with what is the default. */
export async function openDocumentedServer(): Promise<DocumentedServer> {
  const site = await mkdtemp(join(tmpdir(), 'holdfast-docs-site-'))
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-docs-'))
  const password = generatePassword()
  const customers = join(site, 'customers.yaml')
  const file = await openCustomersFile(customers)
  file.add('demo', await hashPassword(password))
  await file.save()
  const flags = { port: '0', data: join(site, 'data'), customers }
  const config = resolveConfig({ flags, environment: {}, file: {}, filePath: undefined })
  const server = await startServer(config, pino({ level: 'silent' }))
  return {
    origin: server.url,
    password,
    directory,
    async close() {
      await server.close()
      for (const path of [site, directory]) await rm(path, { recursive: true, force: true })
    },
  }
}
