import { join } from 'node:path'
import { startHoldfast } from '../../packages/testing/src/holdfast.ts'
import { createSite } from '../../packages/testing/src/site.ts'
import { writeSamples } from './sample-files.ts'

/** A real server with the customer `anna`, and `bert` without a quota; their password is `sesame`. */
export interface SampleServer {
  readonly url: string
  /** Its working directory. */
  readonly folder: string
  /** Writes the sample files of `anna`; resolves with their directory. */
  readonly addSamples: () => Promise<string>
}

const customers = `customers:
  - name: anna
    password: sesame
    quota: 1GB
  - name: bert
    password: sesame
`

/** Runs `work` with a server of its own, which has the options `args`. Default: it keeps what is replaced. */
export async function withServer<T>(
  work: (server: SampleServer) => Promise<T>,
  args: readonly string[] = ['--keep-replaced', '30d'],
): Promise<T> {
  await using ending = new AsyncDisposableStack()
  const site = await createSite()
  ending.defer(() => site.remove())
  await site.write('customers.yaml', customers)
  const server = await startHoldfast(args, { cwd: site.path })
  ending.defer(() => server.kill())
  const addSamples = async () => {
    const stored = join(site.path, 'data/files/anna')
    await writeSamples(stored)
    return stored
  }
  return await work({ url: server.url, folder: site.path, addSamples })
}
