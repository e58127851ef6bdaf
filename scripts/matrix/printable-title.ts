/**
 * `title` in printable ASCII, so that no two look the same: other characters as JSON writes them, `\u00e9`, and more
 * than twenty of one in a row as one with their number after it, `x{255}`.
 */
export function printableTitle(title: string): string {
  return title
    .replaceAll(/(.)\1{20,}/gsu, (run: string, character: string) => {
      return `${character}{${run.length / character.length}}`
    })
    .replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
