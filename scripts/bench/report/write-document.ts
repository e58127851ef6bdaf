import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasPlaceFor, intoDocument, writeFormatted, writePart } from './document.ts'
import { plotRows } from './plot-rows.ts'
import { renderFigures, renderResults, type Described } from './render-document.ts'
import { renderHeadline } from './render-headline.ts'
import { renderPlot } from './render-plot.ts'
import { mergeResults, readResults, type ScenarioResult } from './results.ts'

/**
 * Puts `newer` results among those in the folder `out`, and writes the documents and the plot of them all, and the table in the
 * README beside the folder if there is a place for it. What stands in the documents around their measured parts stays.
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
  await writePart(out, 'benchmarks.md', 'measured', renderResults(scenarios, all))
  await writePart(out, 'benchmarks/figures.md', 'measured', renderFigures(scenarios, all))
  await writeHeadline(join(out, '../README.md'), all)
}

async function writeHeadline(path: string, results: readonly ScenarioResult[]): Promise<void> {
  const readme = await readFile(path, 'utf8').catch(() => '')
  if (!hasPlaceFor(readme, 'headline')) return
  await writeFormatted(path, intoDocument(readme, 'headline', renderHeadline(results)))
}
