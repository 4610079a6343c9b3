// The changelog as an Atom feed: an entry for each version with a date.

import { escaped } from './layout.ts'
import { headingsOf, type Page } from './page.ts'

const VERSION = /^\[(.+)\] - (\d{4}-\d\d-\d\d)$/

/** Links are relative to the feed's own address, because the pages do not know their host. `html` renders Markdown. */
export function atomFeed(
  { address, title, summary, markdown, feed = '' }: Page,
  html: (markdown: string) => string,
): string {
  const versions = headingsOf(markdown).flatMap(({ depth, text, anchor }) => {
    const [, name, day] = (depth === 2 && VERSION.exec(text)) || []
    const [, changes = ''] = markdown.split(`## ${text}\n`)
    return name === undefined ? [] : [{ name, day, anchor, text: changes.split(/^## /m)[0] ?? '' }]
  })
  const entries = versions.map(
    ({ name, day, anchor, text }) => `<entry>
<id>tag:weir.invalid,2026:version/${escaped(name)}</id>
<title>Weir ${escaped(name)}</title>
<updated>${day}T00:00:00Z</updated>
<link href="${address}#${anchor}"/>
<content type="html">${escaped(html(text.trim()))}</content>
</entry>`,
  )
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>tag:weir.invalid,2026:changelog</id>
<title>Weir: ${escaped(title)}</title>
<subtitle>${escaped(summary)}</subtitle>
<updated>${versions[0]?.day ?? '1970-01-01'}T00:00:00Z</updated>
<author><name>Weir</name></author>
<link rel="self" href="${feed}"/>
<link href="${address}"/>
${entries.join('\n')}
</feed>
`
}
