// The version of a release: what it may be, and the files that repeat it.

import { compareVersions } from '../src/cli/serve/folder-mark.ts'

const VERSION = /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}$/

/** Files that a release changes, as patterns of `git ls-files`. The changelog and lists of other packages are not among them. */
export const VERSIONED_FILES = [
  'package.json',
  'package-lock.json',
  'packages/*/pyproject.toml',
  'README.md',
  'packages/*.md',
  'docs/*.md',
  'deploy/*',
]

/** Why the version cannot follow the one of package.json and the last tag. Null: it can. */
export function versionFault(version: string, current: string, lastTag: string | null): string | null {
  if (!VERSION.test(version)) return `${version} is not a version such as 1.2.3.`
  const [other, at] = lastTag === null ? [current, 'package.json'] : [lastTag.slice(1), `the tag ${lastTag}`]
  const order = compareVersions(version, other)
  if (order < 0 || (order === 0 && lastTag !== null))
    return `${version} is not newer than ${at}. Choose a newer version.`
  return compareVersions(version, current) < 0 ? `${version} is older than ${current} in package.json.` : null
}

/** Replaces the version of this project in a file. Versions of other packages stay. */
export function withVersion(path: string, text: string, from: string, to: string): string {
  if (path === 'package.json') return jsonText({ ...JSON.parse(text), version: to })
  if (path === 'package-lock.json') {
    const lock = JSON.parse(text) as { readonly packages: Readonly<Record<string, object>> }
    return jsonText({ ...lock, version: to, packages: { ...lock.packages, '': { ...lock.packages[''], version: to } } })
  }
  const own = /(^version = "|\bweir(?:[-_](?:client|feeder))?[-:]|^ARG VERSION=)(\d+\.\d+\.\d+)(?![\d-]|\.\d)/gm
  return text.replaceAll(own, (match, before: string, found: string) => (found === from ? `${before}${to}` : match))
}

const jsonText = (value: object) => `${JSON.stringify(value, null, 2)}\n`
