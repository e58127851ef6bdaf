import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { packagedProgram, useHoldfast } from '../../../packages/testing/src/holdfast.ts'
import { executableFile } from './executable-file.ts'

const rounds = 5

describe('The single executable, when it starts', function () {
  this.timeout(300_000)
  const holdfast = useHoldfast()

  /** The processor's time, in hundredths of a second, until a server listens. */
  const costOf = async (program: string) => {
    const server = await holdfast.start([], { program })
    const fields = (await readFile(`/proc/${server.pid}/stat`, 'utf8')).split(') ')[1]?.split(' ')
    await server.kill()
    return Number(fields?.[11]) + Number(fields?.[12])
  }

  it("takes at most 1.3 of the processor's time that Node.js takes with the packages", async () => {
    const executable = await executableFile()
    // The first run of the packages compiles them, and keeps that.
    await costOf(packagedProgram)
    const ratios: number[] = []
    for (let round = 0; round < rounds; round++) {
      const packaged = await costOf(packagedProgram)
      ratios.push((await costOf(executable)) / packaged)
    }
    const median = ratios.sort((one, other) => one - other)[Math.floor(rounds / 2)]
    expect(median, `ratios ${ratios.join(', ')}`).to.be.at.most(1.3)
  })
})
