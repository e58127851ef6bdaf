/** What a changelog says of one version. */
export interface ChangelogSection {
  /** As `2026-11-22`, or a word such as `unreleased`. */
  readonly date: string
  /** Without its heading. */
  readonly text: string
}

/** Finds the section of `version` in a changelog of this form: `## VERSION - DATE`, then what has changed. */
export function changelogSection(changelog: string, version: string): ChangelogSection | undefined {
  const sections = changelog.split(/^## /m).slice(1)
  const section = sections.find((text) => text.startsWith(`${version} - `))
  if (section === undefined) return undefined
  const [heading = '', ...lines] = section.split('\n')
  return { date: heading.slice(`${version} - `.length).trim(), text: lines.join('\n').trim() }
}
