import { type HoldfastServer, startHoldfast } from '@holdfast/testing'
import { expect } from 'chai'
import type { CrashSite } from './crash-site.ts'
import type { Scenario, CrashPoint } from './scenario.ts'

/** A server that reports its steps, and dies when it has come through all of `steps`. */
export function startReporting(
  site: CrashSite,
  { upload }: Scenario,
  steps: readonly CrashPoint[],
): Promise<HoldfastServer> {
  const module = new URL('children/die-at-crash-point.ts', import.meta.url).href
  const env = { NODE_OPTIONS: `--import ${module}`, CRASH_AFTER: steps.join(' ') }
  return startHoldfast(upload ? ['--resumable-draft'] : [], { cwd: site.path, env })
}

/** What a server has reported that dies while it starts, or soon after that. */
export async function dieUnasked(starting: Promise<HoldfastServer>): Promise<string> {
  const started = await starting.catch((error: unknown) => String(error))
  return typeof started === 'string' ? started : dieSoon(started)
}

/** What the server has reported until it died. It is over when its request is; only news of that may be late. */
export async function dieSoon(server: HoldfastServer): Promise<string> {
  const limit = AbortSignal.timeout(45_000)
  limit.addEventListener('abort', () => server.signal('SIGTERM'))
  const end = await server.ended
  expect(end, `the end of a server that reported: ${server.output()}`).to.equal('SIGKILL')
  return server.output()
}

/** The steps that a server has reported. */
export function crashPointsIn(output: string): readonly CrashPoint[] {
  return [...output.matchAll(/^crash point: (.*)$/gm)].map(([, step]) => step as CrashPoint)
}
