import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFormatted, writePart } from './document.ts'
import { plotRows } from './plot-rows.ts'
import { renderResults, type Described } from './render-document.ts'
import { renderPlot } from './render-plot.ts'
import { mergeResults, readResults, type ScenarioResult } from './results.ts'

/**
 * Puts `newer` results among those in the folder `out`, and writes the document and the plot of them all. What stands in the
 * document around its measured part stays.
 */
export async function writeDocument(
  out: string,
  scenarios: readonly Described[],
  newer: readonly ScenarioResult[],
): Promise<void> {
  const folder = join(out, 'benchmarks')
  const results = join(folder, 'results.json')
  const names = scenarios.map(({ name }) => name)
  const all = mergeResults(names, await readResults(results), newer)
  await mkdir(folder, { recursive: true })
  await writeFormatted(results, JSON.stringify(all))
  await writeFile(join(folder, 'ratios.svg'), renderPlot(plotRows(scenarios, all)))
  await writePart(out, 'measured', renderResults(scenarios, all))
}
