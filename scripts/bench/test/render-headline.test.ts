import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { renderHeadline } from '../report/render-headline.ts'
import { readResults } from '../report/results.ts'
import { resultOf, row } from './result-fixtures.ts'

const root = join(import.meta.dirname, '../../..')
const cellsOf = (line: string) => line.split('|').map((cell) => cell.trim())
const rowsOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[ :|-]+$/.test(line))
    .map(cellsOf)

describe('renderHeadline', () => {
  it('takes the worse of several ways to upload, and leaves out who was not measured', () => {
    const uploads = [
      row('holdfast', 'form', { growthMiB: 50 }),
      row('holdfast', 'PUT', { growthMiB: 18 }),
      row('nginx', 'PUT', { growthMiB: 1 }),
    ]
    const [names, , memory] = rowsOf(renderHeadline([resultOf('upload-64-at-once', uploads)]))
    expect(names?.slice(2)).to.deep.equal(['holdfast', 'nginx', ''])
    expect(memory?.slice(2)).to.deep.equal(['50.0', '1.00', ''])
  })

  it('is what the README shows, of the results that are there', async () => {
    const readme = await readFile(join(root, 'README.md'), 'utf8')
    const [, shown = ''] =
      /<!-- headline: [^>]*-->\n([^]*)<!-- end of headline -->/.exec(readme) ?? []
    const results = await readResults(join(root, 'docs/benchmarks/results.json'))
    expect(rowsOf(shown)).to.deep.equal(rowsOf(renderHeadline(results)))
  })

  it('has the figures of docs/reliability.md for power cuts', async () => {
    const reliability = await readFile(join(root, 'docs/reliability.md'), 'utf8')
    const operations = /power cuts [^|]*, ([\d,]+) acknowledged operations/.exec(reliability)?.[1]
    const line = renderHeadline([]).split('\n').at(-2)
    expect(line).to.contain(`lost, of ${operations} | 0 |`)
  })
})
