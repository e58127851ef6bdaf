import { expect } from 'chai'
import { mermaidArrows } from '../mermaid-arrows.ts'

const written = (flowchart: string) =>
  mermaidArrows(flowchart).map(({ from, to, kind }) => `${from} ${kind} ${to}`)

describe('mermaidArrows', () => {
  it('takes several names on either side, and chains', () => {
    expect(written('a & b --> c-d -.-> e & f\n  g ==> a')).to.deep.equal([
      'a thin c-d',
      'b thin c-d',
      'c-d dotted e',
      'c-d dotted f',
      'g thick a',
    ])
  })

  it('passes over labels, whatever they say', () => {
    expect(written('a["x --> y<br>z"] --> b[(disk [1])] & c([curl])')).to.deep.equal([
      'a thin b',
      'a thin c',
    ])
  })

  it('draws nothing where there is no arrow', () => {
    expect(written('flowchart LR\n  a["x --> y"]\n\n')).to.deep.equal([])
  })

  it('refuses what it does not understand rather than miss it', () => {
    expect(() => mermaidArrows('a -->|says| b')).to.throw('not understood: a -->|says| b')
  })
})
