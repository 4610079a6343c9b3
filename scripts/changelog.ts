// Sections of CHANGELOG.md, which has the format of Keep a Changelog.

interface Section {
  /** `Unreleased` or a version. */
  readonly name: string
  readonly heading: string
  readonly body: string
}

function sectionsOf(changelog: string): Section[] {
  return changelog
    .split(/^(?=## \[)/m)
    .slice(1)
    .map((text) => {
      const [, heading = '', name = '', body = ''] = /^(## \[([^\]]*)\].*)\n?([\s\S]*)$/.exec(text) ?? []
      return { name, heading, body: body.trim() }
    })
}

/** Why this version cannot be released. Null: the newest section describes it. */
export function changelogFault(changelog: string, version: string): string | null {
  const [top, ...older] = sectionsOf(changelog)
  if (top === undefined || (top.name !== 'Unreleased' && top.name !== version))
    return `The first section of CHANGELOG.md must be [Unreleased] or [${version}]. Write what changed there.`
  if (!/^- /m.test(top.body))
    return `The section [${top.name}] of CHANGELOG.md has no entries. Write what changed there.`
  if (older.some(({ name }) => name === version))
    return `CHANGELOG.md already has an older section [${version}]. Choose another version.`
  return null
}

/** Names and dates the newest section. `date`: such as 2026-12-01. */
export function withReleaseDate(changelog: string, version: string, date: string): string {
  const [top] = sectionsOf(changelog)
  return top === undefined ? changelog : changelog.replace(top.heading, () => `## [${version}] - ${date}`)
}

/** The entries of a version, without its heading. */
export function releaseNotes(changelog: string, version: string): string {
  const section = sectionsOf(changelog).find(({ name }) => name === version)
  if (section === undefined) throw new Error(`CHANGELOG.md has no section [${version}].`)
  return `${section.body}\n`
}
