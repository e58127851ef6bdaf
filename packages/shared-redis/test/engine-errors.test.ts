import { ErrorReply } from '@redis/client'
import { expect } from 'chai'
import { SetupError } from '@holdfast/core'
import { EngineAwayError, isOwnFault, reasonOf } from '../src/engine/engine-errors.ts'

describe('isOwnFault', () => {
  it('is false for answers of an engine that cannot work, and for lost connections', () => {
    const answers = [
      "OOM command not allowed when used memory > 'maxmemory'.",
      "READONLY You can't write against a read only replica.",
      'LOADING Redis is loading the dataset in memory',
      "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
      'CLUSTERDOWN The cluster is down',
      'NOREPLICAS Not enough good replicas to write.',
      'BUSY Redis is busy running a script.',
      'MISCONF Redis is configured to save RDB snapshots',
    ]
    for (const answer of answers) expect(isOwnFault(new ErrorReply(answer)), answer).to.equal(false)
    expect(isOwnFault(Object.assign(new Error('read'), { code: 'ECONNRESET' }))).to.equal(false)
    expect(isOwnFault(new EngineAwayError('no answer'))).to.equal(false)
  })

  it('is true for a wrong script, and for a mistake in this program', () => {
    for (const answer of [
      'ERR user_script:1: Script attempted',
      'WRONGTYPE Operation',
      'CROSSSLOT Keys',
    ]) {
      expect(isOwnFault(new ErrorReply(answer)), answer).to.equal(true)
    }
    expect(isOwnFault(new TypeError('Invalid argument type'))).to.equal(true)
  })
})

describe('reasonOf', () => {
  it('has few words, and no stack', () => {
    const error = Object.assign(new Error('connect ECONNREFUSED ::1:1'), { code: 'ECONNREFUSED' })
    expect(reasonOf(error)).to.equal('connection refused')
    expect(reasonOf(new Error('Socket closed unexpectedly'))).to.equal('connection lost')
    expect(reasonOf(new SetupError('It is too old', ['Install another']))).to.equal('It is too old')
    expect(reasonOf(new ErrorReply('ERR one\ntwo'))).to.equal('ERR one')
    expect(reasonOf('text')).to.equal('text')
  })

  it('puts into words what an engine answers that cannot work', () => {
    const full = "OOM command not allowed when used memory > 'maxmemory'. script: ab9e, on @user:2."
    expect(reasonOf(new ErrorReply(full))).to.equal(
      'the memory of the engine is full: maxmemory (OOM)',
    )
    const few = 'NOREPLICAS Not enough good replicas to write.'
    expect(reasonOf(new ErrorReply(few))).to.match(/too few replicas .*min-replicas-to-write/)
    const disk = 'MISCONF Redis is configured to save RDB snapshots, but'
    expect(reasonOf(new ErrorReply(disk))).to.equal('the engine cannot write to its disk (MISCONF)')
  })
})
