import { type HoldfastServer, startHoldfast } from '@holdfast/testing'
import { expect } from 'chai'
import { createCrashSite, type CrashSite } from './crash-site.ts'
import { expectCleanOpening, expectOnDisk, expectQuota, expectServed } from './expect-state.ts'
import { patternedContent } from './patterned-content.ts'
import { filesAfter, type Scenario, type Step } from './scenario.ts'
import type { Answer } from './send.ts'
import { startSurvivor, type SurvivingServer } from './surviving-server.ts'
import { stallUpload } from './uploads.ts'

const acknowledging: readonly Step[] = ['name-synced', 'removal-synced']
const neighbour = { name: 'neighbour.txt', content: patternedContent('neighbour', 200_000) }

/** Runs the scenario to its end, and checks that it goes through its steps, in their order, and no others. */
export function rehearse(scenario: Scenario): Promise<void> {
  return onSite(scenario, async (site) => {
    const server = await startTelling(site, [])
    const answer = await scenario.request?.(server.url, site)
    expectAnswer(scenario, answer)
    server.signal('SIGTERM')
    await server.ended
    const all = stepsIn(server.output())
    const steps = scenario.request ? all.slice(all.indexOf('opened') + 1) : all
    expect(steps.filter(isCertain)).to.deep.equal(scenario.steps.filter(isCertain))
    return scenario.steps
  })
}

/** Runs the scenario up to a step, where the server dies, and checks what is found then. */
export function crash(scenario: Scenario, steps: readonly Step[]): Promise<void> {
  return onSite(scenario, async (site) => {
    if (!scenario.request) {
      expectStep(await dieWhileStarting(site, steps), steps)
      return steps
    }
    const server = await startTelling(site, ['opened', ...steps])
    const answer = await scenario.request(server.url, site)
    expectStep(await dieSoon(server), steps)
    if (steps.at(-1) === 'answer-sent') expectAnswer(scenario, answer)
    else expectNoFalsePromise(answer, steps)
    return steps
  })
}

/** Has a server die on a new site, by `die`, which tells after which steps; then checks all that is promised of that. */
async function onSite(
  scenario: Scenario,
  die: (site: CrashSite) => Promise<readonly Step[]>,
): Promise<void> {
  const site = await createCrashSite()
  const servers: SurvivingServer[] = []
  const start = async () => {
    const server = await startSurvivor(site)
    servers.push(server)
    return server
  }
  try {
    if (scenario.before) await site.store(scenario.before)
    const upload =
      scenario.hasNeighbour && (await stallUpload((await start()).url, site, neighbour))
    if (scenario.hasLeftOvers) await site.leaveBehind()
    const live = servers.length

    const files = filesAfter(scenario, await die(site))
    // A live server has an upload under way.
    const dead = (await site.ownersOfFiles()).length - live
    const { url, warnings } = await start()
    expectRemovals(warnings(), dead)
    await expectServed(url, files)
    await expectOnDisk(site, files, { servers: live + 1, uploads: live })
    if (upload) expect(await upload.finish()).to.include({ status: 200, isWhole: true })
    const beside = upload ? { [neighbour.name]: neighbour.content } : {}
    await expectQuota(url, { ...files, ...beside })

    await scenario.request?.(url, site)
    const complete = { ...filesAfter(scenario, scenario.steps), ...beside }
    for (const server of servers) await expectServed(server.url, complete)
    for (const server of servers) await server.stop()
    await expectOnDisk(site, complete, { servers: 0, uploads: 0 })
    await expectCleanOpening(site, complete)
  } finally {
    for (const server of servers) await server.stop(AbortSignal.abort())
    await site.remove()
  }
}

/** A server that tells its steps, and dies when it has come through all of `steps`. */
function startTelling(site: CrashSite, steps: readonly Step[]): Promise<HoldfastServer> {
  const module = new URL('children/die-at-step.ts', import.meta.url).href
  const env = { NODE_OPTIONS: `--import ${module}`, CRASH_AFTER: steps.join(' ') }
  return startHoldfast([], { cwd: site.path, env })
}

async function dieWhileStarting(site: CrashSite, steps: readonly Step[]): Promise<string> {
  const started = await startTelling(site, steps).catch((error: unknown) => String(error))
  if (typeof started === 'string') return started
  await started.kill()
  throw new Error(`It never died: ${started.output()}`)
}

/** What the server has told until it died. It is over when its request is; only news of that may be late. */
async function dieSoon(server: HoldfastServer): Promise<string> {
  const limit = AbortSignal.timeout(45_000)
  limit.addEventListener('abort', () => server.signal('SIGTERM'))
  const end = await server.ended
  expect(end, `the end of a server that told: ${server.output()}`).to.equal('SIGKILL')
  return server.output()
}

function stepsIn(output: string): readonly string[] {
  return [...output.matchAll(/^step: (.*)$/gm)].map(([, step = '']) => step)
}

/** How many writes there are depends on the pieces in which the network brings the content. */
function isCertain(step: string): boolean {
  return step !== 'content-written'
}

function expectStep(output: string, steps: readonly Step[]): void {
  expect(stepsIn(output).at(-1), output).to.equal(steps.at(-1))
}

function expectAnswer({ answer: expected }: Scenario, actual: Answer | undefined): void {
  if (expected === undefined) return
  const [status, text] = expected
  expect(actual).to.include({ status, isWhole: true })
  expect(actual?.content.toString()).to.include(text)
}

/** Nothing may be called safe before it is. */
function expectNoFalsePromise({ content, isWhole }: Answer, steps: readonly Step[]): void {
  expect(isWhole, 'a whole answer').to.equal(false)
  const promises = content.toString().match(/OK/g)?.length ?? 0
  const kept = steps.filter((step) => acknowledging.includes(step)).length
  expect(promises, 'promises').to.be.at.most(kept)
}

/** The start after a crash warns of the files that `dead` processes left, and of nothing else. */
function expectRemovals(warnings: readonly string[], dead: number): void {
  expect(warnings.filter((warning) => !warning.startsWith('Removed '))).to.deep.equal([])
  expect(warnings, 'warnings of what dead processes left').to.have.length(dead)
}
