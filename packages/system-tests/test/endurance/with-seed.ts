import { randomInt } from 'node:crypto'

/**
 * Runs `test` with a seed for its choices: a new one each time, or that of `HOLDFAST_TEST_SEED`. If it fails, the error says how
 * to repeat it.
 */
export async function withSeed<Result>(test: (seed: number) => Promise<Result>): Promise<Result> {
  const given = process.env['HOLDFAST_TEST_SEED']
  const seed = given ? Number(given) : randomInt(2 ** 31)
  try {
    return await test(seed)
  } catch (error) {
    const message = `HOLDFAST_TEST_SEED=${seed} repeats these choices: ${String(error)}`
    throw new Error(message, { cause: error })
  }
}
