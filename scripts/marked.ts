// Replaces the generated parts of documents that people write: the text between `<!-- name -->` and `<!-- /name -->`.

/** Returns the text with `part` between the markers. Throws if they are missing, so that the part is not lost silently. */
export function withPart(text: string, name: string, part: string): string {
  const begin = `<!-- ${name} -->`
  const end = `<!-- /${name} -->`
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from < 0 || to < from) throw new Error(`the markers ${begin} and ${end} are missing`)
  return `${text.slice(0, from)}${begin}\n${part}\n${text.slice(to)}`
}
