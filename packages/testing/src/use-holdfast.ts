import { type HoldfastOptions, type HoldfastServer, startHoldfast } from './holdfast.ts'
import { createSite, type Site } from './site.ts'

/** Where the tests of a suite start `holdfast serve`. */
export interface Holdfast {
  /** The site of the test that runs. */
  readonly site: Site
  /** Starts a server on the site; it is killed after the test. */
  start(args?: readonly string[], options?: Omit<HoldfastOptions, 'cwd'>): Promise<HoldfastServer>
}

/** Makes a site before each test of the suite. After it, kills the servers that the test has started there, and removes the site. */
export function useHoldfast(): Holdfast {
  let made: Site | undefined
  const servers: HoldfastServer[] = []
  beforeEach(async () => {
    made = await createSite()
  })
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.kill()))
    await made?.remove()
  })

  const current = () => {
    if (made === undefined) throw new Error('There is a site only while a test runs')
    return made
  }
  return {
    site: {
      get path() {
        return current().path
      },
      write: (name, text) => current().write(name, text),
      litter: () => current().litter(),
      remove: () => current().remove(),
    },
    async start(args = [], options = {}) {
      const server = await startHoldfast(args, { ...options, cwd: current().path })
      servers.push(server)
      return server
    },
  }
}
