import { execFileSync } from 'node:child_process'
import { expect } from 'chai'
import { shellWord } from '../../src/inspect/findings.ts'

describe('shellWord', () => {
  it('leaves simple paths as they are', () => {
    expect(shellWord('/srv/hold-fast_1.d/@x')).to.equal('/srv/hold-fast_1.d/@x')
  })

  it('comes out of a shell as it went in', () => {
    for (const text of [
      '',
      'two words',
      "it's",
      '$(id)',
      '`id`',
      '~',
      '*',
      'é',
      'a;b',
      '\\',
      '-n',
    ]) {
      const out = execFileSync('sh', ['-c', `printf %s x${shellWord(text)}`]).toString()
      expect(out).to.equal(`x${text}`)
    }
  })
})
