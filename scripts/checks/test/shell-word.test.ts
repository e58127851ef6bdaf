import { execFileSync } from 'node:child_process'
import { expect } from 'chai'
import { shellWord } from '../shell-word.ts'

describe('shellWord', () => {
  it('leaves a path as it is', () => {
    expect(shellWord('packages/core/test/file-name.test.ts')).to.equal(
      'packages/core/test/file-name.test.ts',
    )
  })

  it('is what the shell reads as the same text', () => {
    const texts = ["it's", '$HOME `id` "x" \\', 'a\nb', '*', '', '€ -x']
    const script = texts.map((text) => `printf '%s\\0' ${shellWord(text)}`).join('\n')
    const read = execFileSync('sh', ['-c', script], { encoding: 'utf8' })
    expect(read.split('\0').slice(0, -1)).to.deep.equal(texts)
  })
})
