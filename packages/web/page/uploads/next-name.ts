import { numberedName } from '@holdfast/client/browser'

/** `report.txt`, then `report (2).txt`, `report (3).txt`, as long as the server says that they are taken. */
export function nextName(name: string): string {
  const [, digits] = / \((\d+)\)(?:\.[^.]*)?$/.exec(name) ?? []
  const plain = digits === undefined ? name : name.replace(/ \(\d+\)(\.[^.]*)?$/, '$1')
  return numberedName(plain, Number(digits ?? 1) + 1)
}
