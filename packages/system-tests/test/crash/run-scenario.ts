import { expect } from 'chai'
import { createCrashSite, type CrashSite, type Files } from './crash-site.ts'
import { dieSoon, dieUnasked, startReporting, crashPointsIn } from './dying-server.ts'
import { expectCleanOpening, expectOnDisk, expectQuota, expectServed } from './expect-state.ts'
import { patternedContent } from './patterned-content.ts'
import { filesAfter, type Scenario, type CrashPoint } from './scenario.ts'
import type { Answer } from './send.ts'
import { startSurvivor, type SurvivingServer } from './surviving-server.ts'
import { stallUpload } from './uploads.ts'
import { awaitSweep, beginBefore, expectUpload, goOn, settings } from './uploads-at-stake.ts'

const acknowledging: readonly CrashPoint[] = ['name-synced', 'removal-synced']
const neighbour = { name: 'neighbour.txt', content: patternedContent('neighbour', 200_000) }

/** How a server has ended. */
interface End {
  /** What it has gone through. */
  readonly steps: readonly CrashPoint[]
  readonly answer?: Answer | undefined
}

/** Runs the scenario to its end; resolves to its steps, and checks that they are those of the scenario, in their order, and no others. */
export async function rehearse(scenario: Scenario): Promise<readonly CrashPoint[]> {
  const { steps } = await onSite(scenario, async (site, place) => {
    const server = await startReporting(site, scenario, [])
    const answer = await scenario.request?.(server.url, site, place)
    expectAnswer(scenario, answer)
    if (scenario.upload?.after === 'expired') await server.logged('expired uploads were removed')
    server.signal('SIGTERM')
    await server.ended
    const all = crashPointsIn(server.output())
    const found = isStart(scenario) ? all : all.slice(all.indexOf('opened') + 1)
    const { steps = found } = scenario
    expect(found.filter(isCertain)).to.deep.equal(steps.filter(isCertain))
    return { steps, answer }
  })
  return steps
}

/** Runs the scenario up to a step, where the server dies, and checks what is found then. */
export async function crash(scenario: Scenario, steps: readonly CrashPoint[]): Promise<void> {
  await onSite(scenario, async (site, place) => {
    const starting = startReporting(
      site,
      scenario,
      isStart(scenario) ? steps : ['opened', ...steps],
    )
    if (!scenario.request) {
      expectCrashPoint(await dieUnasked(starting), steps)
      return { steps }
    }
    const server = await starting
    const answer = await scenario.request(server.url, site, place)
    expectCrashPoint(await dieSoon(server), steps)
    if (steps.at(-1) === 'answer-sent') expectAnswer(scenario, answer)
    else expectNoFalsePromise(answer, steps)
    return { steps, answer }
  })
}

/** Whether it is about a server that starts on its directory. */
function isStart({ request, upload }: Scenario): boolean {
  return !request && !upload
}

/** Has a server die on a new site, by `die`; then checks all that is promised of that. */
async function onSite(
  scenario: Scenario,
  die: (site: CrashSite, place: string) => Promise<End>,
): Promise<End> {
  const site = await createCrashSite()
  const inPieces = scenario.upload !== undefined
  const servers: SurvivingServer[] = []
  const start = async () => {
    const server = await startSurvivor(site, scenario.upload && settings)
    servers.push(server)
    return server
  }
  try {
    if (scenario.before) await site.store(scenario.before)
    const place = scenario.upload ? await beginBefore(site, scenario.upload) : ''
    const stalled =
      scenario.hasNeighbour && (await stallUpload((await start()).url, site, neighbour))
    if (scenario.hasLeftOvers) await site.leaveBehind()
    const live = servers.length

    const end = await die(site, place)
    const files = filesAfter(scenario, end.steps)
    // A live server has an upload under way.
    const dead = (await site.ownersOfFiles()).length - live
    const { url, warnings } = await start()
    if (scenario.upload?.after === 'expired') await awaitSweep(site, live)
    expectRemovals(warnings(), dead)
    await expectServed(url, files)
    await expectOnDisk(site, files, { servers: live + 1, uploads: live, inPieces })
    const found =
      scenario.upload && (await expectUpload(site, url, scenario.upload, { place, ...end }))
    if (stalled) expect(await stalled.finish()).to.include({ status: 200, isWhole: true })
    const beside: Files = stalled ? { [neighbour.name]: neighbour.content } : {}
    // A look publishes what has all of its bytes.
    const complete = { ...filesAfter(scenario), ...beside }
    const now = found?.isComplete ? complete : { ...files, ...beside }
    await expectQuota(url, now, found?.unfinishedBytes)

    if (scenario.upload && found) await goOn(site, servers[0]?.url ?? url, scenario.upload, found)
    else await scenario.request?.(url, site, '')
    for (const server of servers) await expectServed(server.url, complete)
    for (const server of servers) await server.stop()
    await expectOnDisk(site, complete, { servers: 0, uploads: 0, inPieces })
    await expectCleanOpening(site, complete)
    return end
  } finally {
    for (const server of servers) await server.stop(AbortSignal.abort())
    await site.remove()
  }
}

/** How many writes there are depends on the pieces in which the network brings the content. */
function isCertain(step: string): boolean {
  return step !== 'content-written'
}

function expectCrashPoint(output: string, steps: readonly CrashPoint[]): void {
  expect(crashPointsIn(output).at(-1), output).to.equal(steps.at(-1))
}

function expectAnswer({ answer: expected }: Scenario, actual: Answer | undefined): void {
  if (expected === undefined) return
  const [status, text] = expected
  expect(actual).to.include({ status, isWhole: true })
  expect(actual?.content.toString()).to.include(text)
}

/** Nothing may be called safe before it is. */
function expectNoFalsePromise({ content, isWhole }: Answer, steps: readonly CrashPoint[]): void {
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
