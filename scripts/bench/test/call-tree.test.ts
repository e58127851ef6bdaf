import { expect } from 'chai'
import { callTree, type CpuProfile } from '../flame/call-tree.ts'
import { renderFlame } from '../flame/render-flame.ts'

const frame = (functionName: string, url = '') => ({ functionName, url })

/** A program that works for 30 in `koa`, from two places that are one, and 10 of its own after 100 of waiting. */
const profile: CpuProfile = {
  startTime: 1000,
  nodes: [
    { id: 1, callFrame: frame('(root)'), children: [2, 3, 4] },
    { id: 2, callFrame: frame('(idle)') },
    {
      id: 3,
      callFrame: frame('use<1>', 'file:///x/node_modules/.pnpm/koa@3/node_modules/koa/a.js'),
    },
    {
      id: 4,
      callFrame: frame('use<1>', 'file:///x/node_modules/.pnpm/koa@3/node_modules/koa/a.js'),
      children: [5],
    },
    { id: 5, callFrame: frame('', 'file:///x/packages/core/dist/use-cases/serve-file.js') },
  ],
  samples: [2, 3, 4, 5, 2],
  timeDeltas: [0, 100, 20, 10, 10],
}

describe('callTree', () => {
  it('has the functions with the time in them and what they called, without waiting', () => {
    const child = { name: 'anonymous (core: serve-file)', total: 10, children: [] }
    expect(callTree(profile, 0, Infinity)).to.deep.equal({
      name: 'all',
      total: 40,
      children: [{ name: 'use<1> (koa)', total: 40, children: [child] }],
    })
  })

  it('leaves out what was before and after', () => {
    expect(callTree(profile, 1110, 1125).total).to.equal(10)
  })
})

describe('renderFlame', () => {
  it('draws each function as wide as its share, names escaped', () => {
    const picture = renderFlame('A & B', callTree(profile, 0, Infinity))
    expect(picture)
      .to.include('A &amp; B')
      .and.include('<title>use&lt;1&gt; (koa): 100.0 %</title>')
    expect(picture).to.match(/width="300\.0" [^>]*><title>anonymous \(core: serve-file\): 25\.0 %/)
  })

  it('writes no name where there is no room for it', () => {
    const narrow = { name: 'narrow (koa)', total: 2, children: [] }
    const root = { name: 'all', total: 1000, children: [narrow] }
    const picture = renderFlame('', root)
    expect(picture)
      .to.include('<title>narrow (koa): 0.2 %')
      .and.not.match(/<text [^>]*>narrow/)
  })
})
