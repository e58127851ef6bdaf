// It measures latencies and memory.
import { expect } from 'chai'
import { describeFinding, startFuzz } from './fuzz/start-fuzz.ts'
import { connections } from './fuzz/targets/connections.ts'

describe('connections that send anything', function () {
  this.timeout(300_000)

  it('cost little memory and little time of others, and change nothing of theirs', async () => {
    const figures = { mostMiB: 0, mostMiBInAll: 0, slowestMs: 0 }
    const fuzz = startFuzz({ targets: [connections(figures)], seed: 1, runs: 150 })
    const findings = await fuzz.ended
    console.log(
      `figures: connections: ${fuzz.figures()}; an input took ${figures.mostMiB.toFixed(0)} MiB at most, all of ` +
        `them ${figures.mostMiBInAll.toFixed(0)}, others waited ${figures.slowestMs.toFixed(0)} ms at most`,
    )
    expect(findings.map(describeFinding).join('\n\n')).to.equal('')
  })
})
