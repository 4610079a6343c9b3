// Pieces of Markdown that pages are written with.

/** As code, whatever is in it. */
export function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``
}

/** A row of a table. */
export function cells(row: readonly string[]): string {
  return `| ${row.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
}

/** A table, or nothing where there is no row. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? '' : [head, head.map(() => '---'), ...rows].map(cells).join('\n')
}

/** A block of code. */
export function block(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``
}

/** JSON as people read it: what is short stands on one line. */
export function jsonText(value: unknown, indent = ''): string {
  const flat = JSON.stringify(value)
  if (flat === undefined || flat.length + indent.length <= 96 || typeof value !== 'object' || value === null)
    return flat
  const deeper = `${indent}  `
  if (Array.isArray(value))
    return `[\n${value.map((item) => `${deeper}${jsonText(item, deeper)}`).join(',\n')}\n${indent}]`
  const members = Object.entries(value).map(
    ([key, item]) => `${deeper}${JSON.stringify(key)}: ${jsonText(item, deeper)}`,
  )
  return `{\n${members.join(',\n')}\n${indent}}`
}

/** The places of the headings of one page, in their order, as forges make them: a second one of a name has a number. */
export function anchors(): (heading: string) => string {
  const seen = new Map<string, number>()
  return (heading) => {
    const name = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-')
    const times = seen.get(name) ?? 0
    seen.set(name, times + 1)
    return times === 0 ? name : `${name}-${times}`
  }
}
