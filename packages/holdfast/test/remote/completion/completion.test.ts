import { expect } from 'chai'
import { completion } from '../../../src/remote/completion/answer-shell.ts'
import { shown, sizeWithBytes } from '../../../src/terminal/print.ts'

describe('holdfast completion', () => {
  const refusal = (argv: Parameters<typeof completion.run>[0]) =>
    completion.run(argv).then(
      () => '',
      (error: unknown) => String(error),
    )

  it('asks which shell it is for, where that is not clear', async () => {
    expect(await refusal({ shell: 'tcsh' })).to.include('Say which shell: bash, zsh, fish.')
    expect(await refusal({ shell: 'bash', '--': ['x'] })).to.include(
      'No words are allowed after "--"',
    )
  })
})

describe('sizeWithBytes', () => {
  it('says the bytes where the size does not', () => {
    expect(sizeWithBytes(999)).to.equal('999 B')
    expect(sizeWithBytes(2345)).to.equal('2.35 kB (2345 bytes)')
  })
})

describe('shown', () => {
  it('gives programs a name as it is', () => {
    if (!process.stdout.isTTY) expect(shown('\u202e')).to.equal('\u202e')
  })
})
