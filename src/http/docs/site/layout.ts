// The HTML around a page’s text. Invariants: no inline style or script; every string is escaped here or by the
// renderer;
// every page can be reached without JavaScript.

import { headingsOf, type Page, SECTIONS, type Section, type TryRequest } from './page.ts'

export interface PageContext {
  readonly pages: readonly Page[]
  readonly style: string
  readonly script: string
}

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
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="alternate" type="text/markdown" href="${page.address}.md">
<link rel="stylesheet" href="${around.style}">
<script type="module" src="${around.script}"></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header>
<button class="menu" type="button" popovertarget="menu" aria-label="Menu">Menu</button>
<a class="brand" href="/docs">Weir <span>docs</span></a>
<form class="search" action="/docs/all" role="search">
<label class="unseen" for="q">Search the documentation</label>
<input id="q" name="q" type="search" placeholder="Search" autocomplete="off" spellcheck="false">
</form>
<nav aria-label="Weir"><a href="/live">Live</a><a href="/console">Console</a><a href="/status">Status</a></nav>
</header>
<div class="page">
<nav id="menu" class="side" popover aria-label="Documentation">
${menuHtml(page, around.pages)}
</nav>
<main id="main">
${trailHtml(page, around.pages)}
${contentsHtml(page)}
<article>
${body}
${page.request === undefined ? '' : tryHtml(page.request)}
</article>
${neighborsHtml(page, around.pages)}
<footer><a href="${page.address}.md">View as Markdown</a> <a href="/docs/all">All pages</a> <a href="/llms.txt">llms.txt</a></footer>
</main>
</div>
</body>
</html>
`
}

function menuHtml(here: Page, pages: readonly Page[]): string {
  return menuOf(pages, here)
    .map(({ title, isHere, pages: shown, more }) => {
      const links = shown.map((page) => {
        const current = page === here ? ' aria-current="page"' : ''
        return `<li><a href="${page.address}"${current}>${inlineCode(page.title)}</a></li>`
      })
      const rest = more > 0 ? `<li><a class="more" href="${shown[0]?.address}">${more} more</a></li>` : ''
      return `<details${isHere ? ' open' : ''}><summary>${escaped(title)}</summary><ul>${links.join('')}${rest}</ul></details>`
    })
    .join('\n')
}

function trailHtml(page: Page, pages: readonly Page[]): string {
  const links = trailOf(pages, page).map(({ address, title }) => `<a href="${address}">${inlineCode(title)}</a>`)
  return links.length === 0
    ? ''
    : `<nav class="trail" aria-label="Breadcrumb">${links.join(' / ')} / <span>${inlineCode(page.title)}</span></nav>`
}

function contentsHtml({ markdown, request }: Page): string {
  const headings = headingsOf(markdown).filter(({ depth }) => depth === 2)
  if (headings.length < 2) return ''
  const links = headings.map(({ text, anchor }) => `<li><a href="#${anchor}">${inlineCode(text)}</a></li>`)
  const last = request === undefined ? '' : '<li><a href="#try-it">Try it</a></li>'
  return `<nav class="contents" aria-label="On this page"><p>On this page</p><ul>${links.join('')}${last}</ul></nav>`
}

/** A form that sends the request with the visitor’s session. Without JavaScript, a note points to the curl sample. */
function tryHtml({ method, path, body }: TryRequest): string {
  const field =
    body === null
      ? `<label for="try-path">Path</label><input id="try-path" name="path" value="${escaped(path)}" spellcheck="false">`
      : `<label for="try-body">Body of <code>${method} ${escaped(path)}</code></label><textarea id="try-body" name="body" rows="4" spellcheck="false">${escaped(body)}</textarea>`
  return `<section class="try" aria-labelledby="try-it">
<h2 id="try-it">Try it</h2>
<noscript><p>Sending requests from this page needs JavaScript. Use the curl command above instead.</p></noscript>
<p class="who" role="status"></p>
<form data-method="${method}" data-path="${escaped(path)}" hidden>
${field}
<button type="submit">Send</button>
</form>
<div class="answer" role="status" hidden><dl></dl><pre tabindex="0"></pre></div>
</section>`
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

/** Ancestors of this page, the home page first. */
function trailOf(pages: readonly Page[], { address, section }: Page): Page[] {
  const home = pages.find((page) => page.address === '/docs')
  const first = pages.find((page) => page.section === section)
  return [home, first].filter((page): page is Page => page !== undefined && page.address !== address)
}

/** The previous and next page of the section. */
function neighborsOf(pages: readonly Page[], here: Page): readonly [Page | undefined, Page | undefined] {
  const section = pages.filter((page) => page.section === here.section)
  const at = section.indexOf(here)
  return [section[at - 1], section[at + 1]]
}
