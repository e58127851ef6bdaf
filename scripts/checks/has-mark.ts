import { basename } from 'node:path'

/**
 * What the name of a test file may say of it: `NAME.long.test.ts` takes minutes; `NAME.alone.test.ts` measures, so that nothing else may run
 * meanwhile; `NAME.external.test.ts` depends on programs that others make, which may fail by chance: browsers, proxies, installers,
 * generators of clients, container engines.
 */
export type Mark = 'alone' | 'long' | 'external'

/** Whether the name of a test file has the mark. */
export function hasMark(path: string, mark: Mark): boolean {
  const [, ...marks] = basename(path, '.test.ts').split('.')
  return marks.includes(mark)
}
