import { appendFile, copyFile, rename, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryDirectory } from '@holdfast/testing'
import { expect } from 'chai'
import { openTrailReader, type TrailPosition } from '../../src/events/read-trail.ts'

const seeds = 60
const steps = 25

/** Numbers from 0 to below `limit`, the same ones for the same seed. */
function randomOf(seed: number) {
  let state = (seed * 2_654_435_761) % 2 ** 32
  return (limit: number) => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return Math.floor((state / 2 ** 32) * limit)
  }
}

/** Writes, rotates, reads and restarts at random; the result is what was read, and how many lines were written. */
async function play(seed: number, rotate: (trail: string, target: string) => Promise<void>) {
  await using directory = await makeTemporaryDirectory()
  const trail = join(directory.path, 'audit.jsonl')
  const random = randomOf(seed)
  const read: number[] = []
  const lost: string[] = []
  let written = 0
  let rotated = 0
  const open = (position: TrailPosition) =>
    openTrailReader(trail, position, { onLost: (since) => void lost.push(since), graceMs: 0 })
  let reader = await open({ files: [], since: '' })
  const write = async () => {
    const time = new Date(Date.UTC(2026, 0, 1) + written).toISOString()
    await appendFile(trail, `{"time":"${time}","n":${written++}}\n`)
  }
  const readSome = async (times: number) => {
    for (let count = 0; count < times; count++) {
      const line = await reader.next()
      if (line) read.push((JSON.parse(line.text) as { readonly n: number }).n)
    }
  }
  const restart = async () => {
    const position = JSON.parse(JSON.stringify(reader.position())) as TrailPosition
    await reader.close()
    reader = await open(position)
  }
  for (let step = 0; step < steps; step++) {
    const choice = random(5)
    if (choice <= 1) for (let count = random(4); count >= 0; count--) await write()
    else if (choice === 2) await rotate(trail, `${trail}-${rotated++}`).catch(() => {})
    else if (choice === 3) await readSome(random(6))
    else if (random(3) === 0) await restart()
  }
  await readSome(written + 200)
  await reader.close()
  return { read, lost, written }
}

describe('openTrailReader, at random', () => {
  for (const [title, rotate] of [
    ['moved', rename],
    [
      'copied and truncated',
      async (trail: string, target: string) => {
        await copyFile(trail, target)
        await truncate(trail)
      },
    ],
  ] as const) {
    it(`reads each line once and in order, of files that are ${title}`, async function () {
      this.timeout(60_000)
      for (let seed = 1; seed <= seeds; seed++) {
        const { read, lost, written } = await play(seed, rotate)
        expect({ read, lost }, `seed ${seed}`).to.deep.equal({
          read: Array.from({ length: written }, (_, index) => index),
          lost: [],
        })
      }
    })
  }
})
