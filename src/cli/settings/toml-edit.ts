// Adds a setting to a TOML file and keeps everything else as the operator wrote it: comments, order and spacing.

/** A table's name and a key in it, or a key of the file itself. */
export type SettingPath = readonly [key: string] | readonly [table: string, key: string]

const HEADER = /^\s*\[\[?[\w.-]+\]\]?\s*(?:#.*)?$/

/** The file with `path = literal`, which it must not have yet. `literal`: the value in TOML. */
export function withSetting(text: string, path: SettingPath, literal: string): string {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n')
  const [table, key] = path.length === 1 ? [null, path[0]] : path
  const line = `${key} = ${literal}`
  const first = lines.findIndex((one) => HEADER.test(one))
  const top = first < 0 ? lines.length : first
  if (table === null) {
    const last = lines.slice(0, top).findLastIndex((one) => /^\s*[^#\s]/.test(one))
    // Comments at the top stay first, and those of the first table stay with it.
    const start = lines.findIndex((one) => !one.startsWith('#'))
    const at = last >= 0 ? last + 1 : Math.min(top, start < 0 ? lines.length : start)
    return joined(lines.toSpliced(at, 0, line))
  }
  const header = lines.findIndex((one) => one.trim().replace(/\s*#.*$/, '') === `[${table}]`)
  if (header >= 0) return joined(lines.toSpliced(endOfTable(lines, header), 0, line))
  return joined([...lines, ...(lines.length === 0 ? [] : ['']), `[${table}]`, line])
}

/** After the last setting of the table, so that comments before the next table stay with that. */
function endOfTable(lines: readonly string[], header: number): number {
  const next = lines.findIndex((line, at) => at > header && HEADER.test(line))
  const rest = lines.slice(header, next < 0 ? lines.length : next)
  return header + rest.findLastIndex((line) => /^\s*[^#\s]/.test(line)) + 1
}

const joined = (lines: readonly string[]) => `${lines.join('\n')}\n`
