import { numberedName } from '@holdfast/client/browser'

/**
 * The names of the files in an archive, in their order. Programs that unpack it treat `/`, on Windows also `\` and `C:`, as parts of a
 * path; these become `_`, as do control characters. All names stay distinct.
 */
export function archiveNames(names: readonly string[]): readonly string[] {
  // Harmless names stay unchanged.
  const taken = new Set(names.filter((name) => harmless(name) === name))
  return names.map((name) => {
    const wanted = harmless(name)
    if (wanted === name) return name
    let free = wanted
    for (let number = 2; taken.has(free); number++) free = numberedName(wanted, number)
    taken.add(free)
    return free
  })
}

function harmless(name: string): string {
  const plain = name.replace(/[/\\\u0000-\u001f\u007f]/g, '_').replace(/^([a-z]):/i, '$1_')
  return /^\.{0,2}$/.test(plain) ? `_${plain}` : plain
}
