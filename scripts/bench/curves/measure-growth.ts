import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commitOf, describeMachine } from '../describe-machine.ts'
import { writeFormatted, writePart } from '../report/document.ts'
import { createHoldfast } from '../subjects/holdfast.ts'
import { connections } from './connections.ts'
import type { Curve, Point, Start } from './curve.ts'
import { customers } from './customers.ts'
import { fileSize } from './file-size.ts'
import { files } from './files.ts'
import { growthPlot, growthTable } from './growth-table.ts'
import { renderGrowth } from './render-growth.ts'

const curves = [customers, fileSize, connections, files]
const root = join(import.meta.dirname, '../../..')
const [out = join(root, 'docs'), ...chosen] = process.argv.slice(2)
const folder = join(out, 'benchmarks')
const results = join(folder, 'growth.json')

await mkdir(folder, { recursive: true })
const known: Record<string, readonly Point[]> = JSON.parse(
  await readFile(results, 'utf8').catch(() => '{}'),
) as Record<string, readonly Point[]>
for (const curve of curves) {
  if (chosen.length > 0 && !chosen.includes(curve.name)) continue
  known[curve.name] = await measure(curve)
}
const measured = curves.map(({ name, title, unit }) => ({ title, unit, points: known[name] ?? [] }))
const origin = `Measured by \`scripts/bench/growth\` at commit \`${await commitOf(root)}\` on ${describeMachine()}.`
await writeFormatted(results, JSON.stringify(known))
await writeFile(join(folder, 'growth.svg'), renderGrowth(measured))
await writePart(out, 'benchmarks.md', 'growth', growthPlot(origin))
await writePart(out, 'benchmarks/figures.md', 'growth', growthTable(origin, measured))

async function measure(curve: Curve): Promise<Point[]> {
  const points: Point[] = []
  for (const at of curve.sizes) {
    const figures = await measureAt(curve, at)
    points.push({ at, figures })
    process.stdout.write(`${curve.name} ${at}: ${JSON.stringify(figures)}\n`)
  }
  return points
}

/** Each size with a server of its own, in a directory of its own. */
async function measureAt(curve: Curve, size: number): Promise<Point['figures']> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-growth-'))
  const running: { stop(): Promise<void> }[] = []
  const start: Start = async (...options) => {
    const server = await createHoldfast('holdfast', root).start(...options)
    running.push(server)
    return server
  }
  try {
    return await curve.measure(size, start, directory)
  } finally {
    for (const server of running) await server.stop()
    await rm(directory, { recursive: true })
  }
}
