import { apart, bytesOf, fitting, longestName } from './fitting-name.ts'

/** `name` with ` (2)` before its extension, or another number. Of a name that is too long then, the stem loses its end. */
export function numberedName(name: string, number: number): string {
  const { stem, extension } = apart(name)
  const end = ` (${number})${extension}`
  return fitting(stem, longestName - bytesOf(end)) + end
}
