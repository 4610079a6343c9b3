// The HTML around a page’s text. Invariants: no inline style or script; every string is escaped here or by the
// renderer;
// every page can be reached without JavaScript.

import type { RequestField } from '../../../console/requests/request-form.ts'
import { headingsOf, type Page, SECTIONS, type Section, type TryRequest } from './page.ts'

export interface PageContext {
  readonly pages: readonly Page[]
  readonly style: string
  readonly script: string
  readonly font: string
}

/** The same mark as in the console. */
const MARK =
  '<svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><path d="M3 4h8c5 0 7 3 9 10M3 9h6c4 0 5.5 2 7 6M3 14h4c2.5 0 3.5.8 4.5 2.5M3 20.5h18"/></svg>'

/** `body` is HTML. */
export function pageHtml(page: Page, body: string, around: PageContext): string {
  const title = page.address === '/docs' ? 'Weir documentation' : `${page.title} · Weir`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escaped(plain(page.summary))}">
<title>${escaped(plain(title))}</title>
<script src="/site.js"></script>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="preload" href="${around.font}" as="font" type="font/woff2" crossorigin>
<link rel="alternate" type="text/markdown" href="${page.address}.md">
${page.feed === undefined ? '' : `<link rel="alternate" type="application/atom+xml" title="${escaped(plain(title))}" href="${page.feed}">\n`}<link rel="stylesheet" href="${around.style}">
<script type="module" src="${around.script}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header>
<button class="menu" type="button" popovertarget="menu" aria-label="Menu">Menu</button>
<a class="brand" href="/docs">${MARK}<span class="name">Weir <span>docs</span></span></a>
<form class="search" action="/docs/all" role="search">
<label class="unseen" for="q">Search the documentation</label>
<input id="q" name="q" type="search" placeholder="Search" autocomplete="off" spellcheck="false" aria-keyshortcuts="/ Control+K">
<kbd aria-hidden="true">/</kbd>
</form>
<nav aria-label="Weir"><a href="/live">Live</a><a href="/console">Console</a><a href="/status">Status</a></nav>
</header>
<div class="page">
<nav id="menu" class="side" popover aria-label="Documentation">
${menuHtml(page, around.pages)}
</nav>
<main id="main"${hasSamples(page) ? ' class="wide"' : ''}>
${trailHtml(page, around.pages)}
${articleHtml(page, withContents(page, body))}
${neighborsHtml(page, around.pages)}
<footer><a href="${page.address}.md">View as Markdown</a> <a href="/docs/all">All pages</a> <a href="/docs/changelog">Changelog</a>${page.feed === undefined ? '' : ` <a href="${page.feed}">Feed of changes (Atom)</a>`} <a href="/llms.txt">llms.txt</a> <theme-switch></theme-switch> <legal-links></legal-links></footer>
</main>
</div>
</body>
</html>
`
}

/** The list of headings stands below the title. */
const withContents = (page: Page, body: string) => body.replace('</h1>', () => `</h1>\n${contentsHtml(page)}`)

/** Pages with samples have two columns if there is room: text, and next to it code, example and form. */
const hasSamples = ({ markdown }: Page) => /^## Code$/m.test(markdown)

/** Without samples, `body` as it is. With samples: the introduction, the samples, the other parts. */
function articleHtml(page: Page, body: string): string {
  const form = page.request === undefined ? '' : tryHtml(page.request)
  if (!hasSamples(page)) return `<article>\n${body}\n${form}\n</article>`
  const [intro = '', ...parts] = body.split(/(?=<h2 id=")/)
  const partOf = (id: string) => parts.filter((part) => part.startsWith(`<h2 id="${id}"`)).join('')
  const details = parts.filter((part) => !/^<h2 id="(code|example)"/.test(part))
  return `<article class="columns">
<div class="intro">${intro}</div>
<div class="samples">${partOf('code')}${partOf('example')}${form}</div>
<div class="details">${details.join('')}</div>
</article>`
}

/** Long names break between their words. */
const NAME_PARTS = /(?<=[a-z])(?=[A-Z])|(?<=[^<]\/)(?=\w)/g

function menuHtml(here: Page, pages: readonly Page[]): string {
  return menuOf(pages, here)
    .map(({ title, isHere, pages: shown, more }) => {
      const rest = more > 0 ? `<ul><li><a class="more" href="${shown[0]?.address}">${more} more</a></li></ul>` : ''
      const lists = Map.groupBy(shown, ({ group }) => (isHere ? group : undefined))
      const html = [...lists].map(([group, listed]) => {
        const links = listed.map((page) => {
          const current = page === here ? ' aria-current="page"' : ''
          return `<li><a href="${page.address}"${current}>${inlineCode(page.title).replaceAll(NAME_PARTS, '<wbr>')}</a></li>`
        })
        return `${group === undefined ? '' : `<p>${escaped(group)}</p>`}<ul>${links.join('')}</ul>`
      })
      return `<details${isHere ? ' open' : ''}><summary>${escaped(title)}</summary>${html.join('')}${rest}</details>`
    })
    .join('\n')
}

function trailHtml(page: Page, pages: readonly Page[]): string {
  const home = pages.find(({ address }) => address === '/docs')
  const first = pages.find(({ section }) => section === page.section)
  if (home === undefined || page === home) return ''
  const links = [[home.address, home.title], ...(first === undefined ? [] : [[first.address, SECTIONS[page.section]]])]
    .filter(([address]) => address !== page.address)
    .map(([address = '', title = '']) => `<a href="${address}">${inlineCode(title)}</a> / `)
  return `<nav class="trail" aria-label="Breadcrumb">${links.join('')}<span>${inlineCode(page.title)}</span></nav>`
}

/** Anchors of the samples, in the order of the page. */
const SAMPLES = ['code', 'example', 'try-it']

function contentsHtml(page: Page): string {
  const headings = headingsOf(page.markdown).filter(({ depth }) => depth === 2)
  if (headings.length < 2) return ''
  const every = [...headings, ...(page.request === undefined ? [] : [{ text: 'Try it', anchor: 'try-it' }])]
  const samples = hasSamples(page) ? SAMPLES.flatMap((id) => every.find(({ anchor }) => anchor === id) ?? []) : []
  const links = [...samples, ...every.filter((heading) => !samples.includes(heading))].map(
    ({ text, anchor }) => `<li><a href="#${anchor}">${inlineCode(text)}</a></li>`,
  )
  return `<nav class="contents" aria-label="On this page"><p>On this page</p><ul>${links.join('')}</ul></nav>`
}

/** A form that sends the request with the visitor’s session. Without JavaScript, a note points to the curl sample. */
function tryHtml({ method, path, base, fields, secret, isPublic, isChange }: TryRequest): string {
  const attributes = [
    `data-method="${method}" data-path="${escaped(path)}"`,
    ...(base === null ? [] : [`data-base="${escaped(JSON.stringify(base))}"`]),
    ...(secret === undefined ? [] : [`data-secret="${secret}"`]),
    ...(isPublic ? ['data-public'] : []),
  ]
  const raw =
    base === null
      ? ''
      : `<div class="raw" hidden><label for="try-body">Request body</label><textarea id="try-body" rows="6" spellcheck="false"></textarea></div>
<label class="switch"><input type="checkbox" name="raw"> Edit as JSON</label>`
  return `<section class="try" aria-labelledby="try-it">
<h2 id="try-it">Try it</h2>
<noscript><p>Sending requests from this page needs JavaScript. Use the curl command above instead.</p></noscript>
<form ${attributes.join(' ')}>
<p class="call"><code>${method} ${escaped(path)}</code></p>
<fieldset class="fields"><legend class="unseen">Fields of the request</legend>${fields.map(fieldHtml).join('')}</fieldset>
${raw}${isChange ? '\n<p class="change">This sends a real request, which takes effect immediately.</p>' : ''}
<p class="who" role="status"></p>
<button type="submit" hidden>Send</button>
</form>
<div class="answer" role="status" hidden><dl></dl><pre tabindex="0"></pre></div>
</section>`
}

function fieldHtml(field: RequestField, at: number): string {
  const { name, place, kind, choices, isRequired, value, agoMs, description } = field
  const id = `try-${at}`
  const attributes = [
    `id="${id}" name="${escaped(name)}" data-place="${place}" data-kind="${kind}"`,
    ...(isRequired ? ['data-required'] : []),
    // An empty text is a value of some fields.
    ...(isRequired && (value !== '' || agoMs !== null) ? ['required'] : []),
    ...(agoMs === null ? [] : [`data-ago="${agoMs}"`]),
  ].join(' ')
  const options = [...(isRequired ? [] : ['']), ...choices].map((choice) => {
    return `<option${choice === value ? ' selected' : ''}>${escaped(choice)}</option>`
  })
  const input =
    choices.length > 0
      ? `<select ${attributes}>${options.join('')}</select>`
      : `<input ${attributes} value="${escaped(value)}"${kind === 'number' ? ' inputmode="numeric"' : ''} autocomplete="off" spellcheck="false">`
  const meaning = description === '' ? '' : ` title="${escaped(plain(description))}"`
  return `<div${meaning}><label for="${id}">${escaped(name)}${isRequired ? ' <small>required</small>' : ''}</label>${input}</div>`
}

function neighborsHtml(page: Page, pages: readonly Page[]): string {
  const [before, after] = neighborsOf(pages, page)
  const link = (to: Page | undefined, rel: string, label: string) =>
    to === undefined ? '' : `<a rel="${rel}" href="${to.address}"><span>${label}</span>${inlineCode(to.title)}</a>`
  return `<nav class="neighbors" aria-label="Previous and next page">${link(before, 'prev', 'Previous')}${link(after, 'next', 'Next')}</nav>`
}

/** A title that may contain code. */
function inlineCode(title: string): string {
  return escaped(title).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}

const plain = (title: string) => title.replaceAll('`', '')

export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** Maximum number of pages that the menu lists for a closed section. */
const MENU_MAX = 14

interface MenuPart {
  readonly title: string
  readonly isHere: boolean
  readonly pages: readonly Page[]
  readonly more: number
}

function menuOf(pages: readonly Page[], here: Page): MenuPart[] {
  return (Object.entries(SECTIONS) as [Section, string][]).map(([section, title]) => {
    const all = pages.filter((page) => page.section === section)
    const isHere = section === here.section
    const shown = isHere || all.length <= MENU_MAX ? all : all.slice(0, section === 'info' ? 2 : 3)
    return { title, isHere, pages: shown, more: all.length - shown.length }
  })
}

/** The previous and next page of the section. */
function neighborsOf(pages: readonly Page[], here: Page): readonly [Page | undefined, Page | undefined] {
  const section = pages.filter((page) => page.section === here.section)
  const at = section.indexOf(here)
  return [section[at - 1], section[at + 1]]
}
