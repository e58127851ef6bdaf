import { adviceText, type Advice } from './advice.ts'

/**
 * Why a service cannot be set up, as its administrator can change it: a setting, a file, a store, a port. `problem` and `remedies`
 * say what is wrong and what to do; `message` has both in one text.
 */
export class SetupError extends Error implements Advice {
  override readonly name: string = 'SetupError'
  readonly problem: string
  readonly remedies: readonly string[]

  constructor(problem: string, remedies: readonly string[] = [], cause?: unknown) {
    super(adviceText({ problem, remedies }), cause === undefined ? undefined : { cause })
    this.problem = problem
    this.remedies = remedies
  }
}
