// Generated parts of documents that people write: what stands between `<!-- name -->` and `<!-- /name -->`.

/** The text with `part` between the markers; throws where they are missing, because the part would be lost unseen. */
export function withPart(text: string, name: string, part: string): string {
  const begin = `<!-- ${name} -->`
  const end = `<!-- /${name} -->`
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from < 0 || to < from) throw new Error(`the markers ${begin} and ${end} are missing`)
  return `${text.slice(0, from)}${begin}\n${part}\n${text.slice(to)}`
}
