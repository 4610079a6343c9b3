// Enhances the documentation pages, which also work without it: search results while typing, copy buttons, and a form that
// sends requests with the visitor’s session. Invariants: the form sends to this host only, shows responses as text and stores
// nothing.

import { type IndexedPage, searchPages } from './search.ts'
import { COPY, SEARCH, TRY_IT } from './strings.ts'

export function setUpSearch(): void {
  const form = document.querySelector<HTMLFormElement>('.search')
  const field = form?.querySelector('input')
  if (!form || !field) return
  const list = document.createElement('ul')
  list.className = 'results'
  list.hidden = true
  list.setAttribute('aria-label', SEARCH.results)
  form.append(list)
  let index: Promise<IndexedPage[]> | null = null
  let selected = 0
  const load = () => {
    index ??= fetch('/docs/search.json').then((response) => response.json())
    return index
  }
  const links = () => [...list.querySelectorAll('a')]
  const select = (at: number) => {
    const all = links()
    selected = all.length === 0 ? 0 : (at + all.length) % all.length
    for (const [i, link] of all.entries()) link.setAttribute('aria-selected', String(i === selected))
    all[selected]?.scrollIntoView({ block: 'nearest' })
  }
  const show = async () => {
    const pages = await load().catch(() => null)
    const results = pages === null ? [] : searchPages(pages, field.value)
    list.replaceChildren(
      ...results.map(resultItem),
      ...(results.length === 0 ? [emptyItem(pages === null ? SEARCH.failed : SEARCH.nothing(field.value.trim()))] : []),
    )
    list.hidden = field.value.trim() === ''
    select(0)
  }
  field.addEventListener('focus', () => void load().catch(() => (index = null)))
  field.addEventListener('input', show)
  field.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      select(selected + step)
    }
    if (event.key === 'Escape') list.hidden = true
  })
  form.addEventListener('submit', (event) => {
    const link = links()[selected]
    if (list.hidden || link === undefined) return
    event.preventDefault()
    location.assign(link.href)
  })
  form.addEventListener('focusout', ({ relatedTarget }) => {
    if (!form.contains(relatedTarget as Node | null)) list.hidden = true
  })
  addEventListener('keydown', (event) => {
    const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? '')
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return
    event.preventDefault()
    field.focus()
  })
  // If the form was submitted before this script ran, the query is in the URL.
  const query = new URLSearchParams(location.search).get('q')
  if (query === null) return
  field.value = query
  field.focus()
  void show()
}

function resultItem({ address, title, summary }: IndexedPage): HTMLElement {
  const link = element('a', element('b', title), element('span', summary))
  link.setAttribute('href', address)
  return element('li', link)
}

function emptyItem(text: string): HTMLElement {
  return element('li', element('p', text))
}

const SHOWN_CHARS = 100_000

export function setUpTryIt(): void {
  const section = document.querySelector<HTMLElement>('.try')
  const form = section?.querySelector('form')
  const who = section?.querySelector<HTMLElement>('.who')
  const button = form?.querySelector('button')
  if (!section || !form || !who || !button) return
  form.hidden = false
  void describeVisitor().then((nodes) => who.replaceChildren(...nodes))
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    button.disabled = true
    await sendRequest(form, section).catch((error: unknown) => {
      who.textContent = TRY_IT.failed(error instanceof Error ? error.message : String(error))
    })
    button.disabled = false
  })
}

async function describeVisitor(): Promise<(Node | string)[]> {
  const link = document.createElement('a')
  link.href = '/console'
  link.textContent = TRY_IT.signIn
  const visitor = await fetch('/session').then(
    (response) => (response.ok ? response.json() : null),
    () => null,
  )
  if (visitor === null) return [link, TRY_IT.signedOut]
  return [visitor.role === 'owner' ? TRY_IT.owner(visitor.account) : TRY_IT.operator(visitor.name)]
}

async function sendRequest(form: HTMLFormElement, section: HTMLElement): Promise<void> {
  const { method = 'GET', path = '/' } = form.dataset
  const data = new FormData(form)
  const body = data.get('body')
  const url = new URL(String(data.get('path') ?? path), location.origin)
  if (url.origin !== location.origin) throw new Error(TRY_IT.wrongPath)
  const startedMs = performance.now()
  const response = await fetch(url, {
    method,
    ...(body === null ? {} : { body: String(body), headers: { 'content-type': 'application/json' } }),
  })
  const text = await response.text()
  const output = section.querySelector<HTMLElement>('.answer')
  if (!output) return
  const facts: [string, string][] = [
    [TRY_IT.status, String(response.status)],
    [TRY_IT.time, `${Math.round(performance.now() - startedMs)} ms`],
    ...Object.entries(TRY_IT.headers).flatMap(([header, name]): [string, string][] => {
      const value = response.headers.get(header)
      return value === null ? [] : [[name, value]]
    }),
  ]
  output.querySelector('dl')?.replaceChildren(...facts.map(factItem))
  output.querySelector('pre')?.replaceChildren(formattedBody(text))
  output.hidden = false
}

function factItem([name, value]: [string, string]): HTMLElement {
  return element('div', element('dt', name), element('dd', value))
}

function formattedBody(text: string): string {
  let shown = text
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    // The text is not JSON, so it is shown unchanged.
  }
  return shown.length <= SHOWN_CHARS ? shown : shown.slice(0, SHOWN_CHARS) + TRY_IT.more(shown.length - SHOWN_CHARS)
}

function addCopyButtons(): void {
  for (const block of document.querySelectorAll<HTMLElement>('article pre')) {
    const text = block.textContent ?? ''
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = COPY.copy
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(text)
      button.textContent = COPY.copied
    })
    block.append(button)
  }
}

/** Makes examples use the origin that serves this page. */
function showServedOrigin(): void {
  for (const block of document.querySelectorAll('article pre code')) {
    const nodes = document.createTreeWalker(block, NodeFilter.SHOW_TEXT)
    while (nodes.nextNode()) {
      const { currentNode: text } = nodes
      text.nodeValue = text.nodeValue?.replaceAll('http://127.0.0.1:8787', location.origin) ?? null
    }
  }
}

// Scrolls a long menu to the current page.
document.querySelector('.side [aria-current]')?.scrollIntoView({ block: 'center' })
setUpSearch()
setUpTryIt()
showServedOrigin()
if ('clipboard' in navigator) addCopyButtons()

function element(tag: string, ...children: (Node | string)[]): HTMLElement {
  const created = document.createElement(tag)
  created.append(...children)
  return created
}
