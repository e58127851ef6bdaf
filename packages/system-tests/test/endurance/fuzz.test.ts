import { randomInt } from 'node:crypto'
import { expect } from 'chai'
import { quickTargets } from './fuzz/all-targets.ts'
import { describeFinding, startFuzz } from './fuzz/start-fuzz.ts'

const runs = 1_500

describe('a share of scripts/fuzz', () => {
  const figures: string[] = []
  const { stackTraceLimit } = Error

  // Mocha has none, and parsers that make an error at every level of a deep nest take minutes to tell where they were.
  before(() => (Error.stackTraceLimit = 10))
  after(() => (Error.stackTraceLimit = stackTraceLimit))

  after(() => console.log(`figures: fuzz: ${figures.join('; ')}`))

  for (const [title, seed] of [
    ['that are always the same', 19_910_806],
    ['that nobody has seen before', randomInt(2 ** 31)],
  ] as const) {
    it(`finds nothing by inputs ${title}`, async function () {
      this.timeout(120_000)
      const fuzz = startFuzz({ targets: quickTargets(), seed, runs })
      const findings = await fuzz.ended
      figures.push(fuzz.figures())
      expect(findings.map(describeFinding).join('\n\n'), `seed ${seed}`).to.equal('')
      expect(fuzz.summary(), 'targets').to.have.length(quickTargets().length)
    })
  }
})
