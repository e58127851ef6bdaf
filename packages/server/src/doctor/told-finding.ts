import { finding, type Finding, type FindingMark } from '@holdfast/core'

/**
 * A finding from what the server would have said, which is what is wrong and then what to do: in sentences, parted by a
 * semicolon, or in lines.
 */
export function toldFinding(mark: FindingMark, check: string, text: string): Finding {
  const [message = '', ...remedies] = text.split(/(?<=\.) (?=[A-Z])|; |\n */)
  return finding(mark, check, message.replace(/[.:]$/, ''), ...remedies)
}
