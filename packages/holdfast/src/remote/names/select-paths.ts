import { createMatcher, matchesItems } from './match-pattern.ts'

/** Which files of a directory, or of a server, are meant. */
export interface PathSelection {
  /** Whether all are. */
  readonly isWhole: boolean
  /** Whether the file at this path is meant. */
  readonly isSelected: (path: string) => boolean
  /** Whether a path is passed over; of a directory, whether all that is in it is. */
  readonly isExcluded: (path: string, kind: 'file' | 'directory') => boolean
  /** The paths that are asked for by name, without those that a pattern leaves out. */
  readonly listed: ReadonlySet<string>
}

export interface SelectionRules {
  /** Only files that match one of these; none given: all. */
  readonly include?: readonly string[]
  /** No file that matches one of these. */
  readonly exclude?: readonly string[]
  /** Only these paths; `undefined`: all. */
  readonly paths?: ReadonlySet<string> | undefined
}

/**
 * The files that the rules mean. Patterns are those of `.gitignore`: one without a slash matches a file or a directory anywhere, one with a
 * slash the path from the top, one that ends with a slash only directories, and `**` any number of directories. A directory that matches
 * stands for all that is in it. Unlike in names that a user types, `*` matches names that begin with a dot, too.
 */
export function selectPaths({ include = [], exclude = [], paths }: SelectionRules): PathSelection {
  const included = include.map(createPathMatcher)
  const excluded = exclude.map(createPathMatcher)
  const matchesIn = (matchers: readonly PathMatcher[], path: string, kind: Kind) =>
    matchers.some((matches) => partsOf(path, kind).some((part) => matches(part)))
  const isSelected = (path: string) => {
    if (matchesIn(excluded, path, 'file')) return false
    if (paths !== undefined && !paths.has(path)) return false
    return included.length === 0 || matchesIn(included, path, 'file')
  }
  return {
    isWhole: include.length === 0 && exclude.length === 0 && paths === undefined,
    isSelected,
    listed: new Set([...(paths ?? [])].filter(isSelected)),
    isExcluded: (path, kind) =>
      kind === 'file' ? !isSelected(path) : matchesIn(excluded, path, kind),
  }
}

type Kind = 'file' | 'directory'

interface PathPart {
  readonly segments: readonly string[]
  readonly kind: Kind
}

/** A path and all directories above it. */
function partsOf(path: string, kind: Kind): readonly PathPart[] {
  const segments = path.split('/')
  return segments.map((_, at) => ({
    segments: segments.slice(0, at + 1),
    kind: at < segments.length - 1 ? 'directory' : kind,
  }))
}

type PathMatcher = (part: PathPart) => boolean

function createPathMatcher(pattern: string): PathMatcher {
  const wanted = pattern.replace(/^\.\//, '').replace(/\/+$/, '')
  const segments = wanted.split('/').filter((segment) => segment !== '')
  const isFixed = wanted.includes('/')
  const tests = (isFixed ? segments : ['**', ...segments]).map((segment) =>
    segment === '**' ? '*' : createMatcher(segment, { takesHidden: true }),
  )
  const isForDirectories = pattern.endsWith('/')
  return ({ segments: path, kind }) =>
    (kind === 'directory' || !isForDirectories) && matchesItems(tests, path)
}
