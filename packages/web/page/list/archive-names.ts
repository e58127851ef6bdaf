import { foldersFromName, folderTitle, numberedName } from '@holdfast/client/browser'

/**
 * The names of the files in an archive, in their order. Programs that unpack it treat `/`, on Windows also `\` and `C:`, as parts of a
 * path; these become `_`, as do control characters. All names stay distinct. With `base`, files are in the folders that their names show
 * below that folder.
 */
export function archiveNames(names: readonly string[], base?: string): readonly string[] {
  const paths = names.map((name) => (base === undefined ? [name] : pathBelow(name, base)))
  const unchanged = new Set(paths.filter((path) => path.every((part) => harmless(part) === part)))
  // Harmless names stay unchanged, unless a folder has the name.
  const folders = new Set(paths.flatMap((path) => path.map((_, depth) => join(path, depth))))
  const taken = new Set([...folders, ...[...unchanged].map((path) => join(path))])
  const isFree = (path: readonly string[]) => unchanged.has(path) && !folders.has(join(path))
  return paths.map((path) => {
    const wanted = join(path)
    if (isFree(path)) return wanted
    let free = wanted
    for (let number = 2; taken.has(free); number++) {
      free = join([...path.slice(0, -1), numberedName(harmless(path.at(-1) ?? ''), number)])
    }
    taken.add(free)
    return free
  })
}

/** The titles of the folders below `base`, and then that of the file. */
function pathBelow(name: string, base: string): readonly string[] {
  const folders = foldersFromName(name)
  const below = folders.slice(folders.indexOf(base) + 1)
  return [...below.map(folderTitle), name.slice((folders.at(-1) ?? '').length)]
}

/** The first parts of a path, or all of them, as an archive may have them. */
function join(path: readonly string[], parts = path.length): string {
  return path.slice(0, parts).map(harmless).join('/')
}

/** A name that a file may have on every system. */
export function harmless(name: string): string {
  const plain = name.replace(/[/\\\u0000-\u001f\u007f]/g, '_').replace(/^([a-z]):/i, '$1_')
  return /^\.{0,2}$/.test(plain) ? `_${plain}` : plain
}
