import { readFileSync } from 'node:fs'

/** What a test file may say of itself, in a comment that begins so. */
export type Remark = 'Alone' | 'Long'

/** Whether a test file has such a comment, `// Alone: why`. One that is missing has none. */
export function hasRemark(path: string, remark: Remark): boolean {
  try {
    return new RegExp(`^// ${remark}: `, 'm').test(readFileSync(path, 'utf8'))
  } catch {
    return false
  }
}
