// What a script adds to the pages of the documentation, which do without: results while one types, a button that copies,
// and a form that sends with the visitor’s own session. Invariants of the form: it sends to this host only; what comes is shown
// as text; nothing is kept.

import { type IndexedPage, searchPages } from './search.ts'

export function setUpSearch(): void {
  const form = document.querySelector<HTMLFormElement>('.search')
  const field = form?.querySelector('input')
  if (!form || !field) return
  const list = document.createElement('ul')
  list.className = 'results'
  list.hidden = true
  list.setAttribute('aria-label', 'Results')
  form.append(list)
  let index: Promise<IndexedPage[]> | null = null
  let chosen = 0
  const load = () => {
    index ??= fetch('/docs/search.json').then((answer) => answer.json())
    return index
  }
  const links = () => [...list.querySelectorAll('a')]
  const choose = (at: number) => {
    const all = links()
    chosen = all.length === 0 ? 0 : (at + all.length) % all.length
    for (const [i, link] of all.entries()) link.setAttribute('aria-selected', String(i === chosen))
    all[chosen]?.scrollIntoView({ block: 'nearest' })
  }
  const show = async () => {
    const pages = await load().catch(() => null)
    const found = pages === null ? [] : searchPages(pages, field.value)
    list.replaceChildren(
      ...found.map(resultItem),
      ...(found.length === 0 ? [emptyItem(pages === null ? null : field.value)] : []),
    )
    list.hidden = field.value.trim() === ''
    choose(0)
  }
  field.addEventListener('focus', () => void load().catch(() => (index = null)))
  field.addEventListener('input', show)
  field.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      choose(chosen + step)
    }
    if (event.key === 'Escape') list.hidden = true
  })
  form.addEventListener('submit', (event) => {
    const link = links()[chosen]
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
  // From the page of all pages, where somebody came by the form.
  const asked = new URLSearchParams(location.search).get('q')
  if (asked === null) return
  field.value = asked
  field.focus()
  void show()
}

function resultItem({ address, title, summary }: IndexedPage): HTMLElement {
  const link = element('a', element('b', title), element('span', summary))
  link.setAttribute('href', address)
  return element('li', link)
}

/** `query` is null where the index could not be loaded. */
function emptyItem(query: string | null): HTMLElement {
  const message =
    query === null
      ? 'The search index could not be loaded. /docs/all lists every page.'
      : `No results for “${query.trim()}”. Try: authentication, limits, errors.`
  return element('li', element('p', message))
}

const SHOWN_CHARS = 100_000
const SHOWN_HEADERS = [
  ['x-credits-cost', 'Credits'],
  ['x-credits-remaining', 'Left'],
  ['age', 'Age, s'],
  ['x-block-height', 'Block'],
  ['x-request-id', 'Request id'],
] as const

export function setUpTryIt(): void {
  const part = document.querySelector<HTMLElement>('.try')
  const form = part?.querySelector('form')
  const who = part?.querySelector<HTMLElement>('.who')
  const button = form?.querySelector('button')
  if (!part || !form || !who || !button) return
  form.hidden = false
  void describeVisitor().then((words) => who.replaceChildren(...words))
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    button.disabled = true
    await sendRequest(form, part).catch((error: unknown) => {
      who.textContent = `It could not be sent: ${error instanceof Error ? error.message : error}`
    })
    button.disabled = false
  })
}

async function describeVisitor(): Promise<(Node | string)[]> {
  const link = document.createElement('a')
  link.href = '/console'
  link.textContent = 'Sign in'
  const asked = await fetch('/session').then(
    (answer) => (answer.ok ? answer.json() : null),
    () => null,
  )
  if (asked === null) return [link, ' with a key of yours to send it from here; what it costs is charged to that key.']
  if (asked.role === 'owner')
    return [`As ${asked.account}: what it costs is charged to the key that you signed in with.`]
  return [`As ${asked.name}, an operator.`]
}

async function sendRequest(form: HTMLFormElement, part: HTMLElement): Promise<void> {
  const { method = 'GET', path = '/' } = form.dataset
  const data = new FormData(form)
  const body = data.get('body')
  const url = new URL(String(data.get('path') ?? path), location.origin)
  if (url.origin !== location.origin) throw new Error('the address must begin with /')
  const startedMs = performance.now()
  const answer = await fetch(url, {
    method,
    ...(body === null ? {} : { body: String(body), headers: { 'content-type': 'application/json' } }),
  })
  const text = await answer.text()
  const shown = part.querySelector<HTMLElement>('.answer')
  if (!shown) return
  const facts: [string, string][] = [
    ['Status', String(answer.status)],
    ['Time', `${Math.round(performance.now() - startedMs)} ms`],
    ...SHOWN_HEADERS.flatMap(([header, name]): [string, string][] => {
      const value = answer.headers.get(header)
      return value === null ? [] : [[name, value]]
    }),
  ]
  shown.querySelector('dl')?.replaceChildren(...facts.map(factItem))
  shown.querySelector('pre')?.replaceChildren(formattedBody(text))
  shown.hidden = false
}

function factItem([name, value]: [string, string]): HTMLElement {
  return element('div', element('dt', name), element('dd', value))
}

function formattedBody(text: string): string {
  let shown = text
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    // It is no JSON: as it came.
  }
  return shown.length <= SHOWN_CHARS
    ? shown
    : `${shown.slice(0, SHOWN_CHARS)}\n… ${shown.length - SHOWN_CHARS} more characters`
}

function addCopyButtons(): void {
  for (const block of document.querySelectorAll<HTMLElement>('article pre')) {
    const text = block.textContent ?? ''
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = 'Copy'
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(text)
      button.textContent = 'Copied'
    })
    block.append(button)
  }
}

/** Examples are for the gateway that shows them. */
function showServedOrigin(): void {
  for (const block of document.querySelectorAll('article pre code')) {
    const words = document.createTreeWalker(block, NodeFilter.SHOW_TEXT)
    while (words.nextNode()) {
      const { currentNode: text } = words
      text.nodeValue = text.nodeValue?.replaceAll('http://127.0.0.1:8787', location.origin) ?? null
    }
  }
}

// A long menu begins where the page stands in it.
document.querySelector('.side [aria-current]')?.scrollIntoView({ block: 'center' })
setUpSearch()
setUpTryIt()
showServedOrigin()
if ('clipboard' in navigator) addCopyButtons()

function element(tag: string, ...children: (Node | string)[]): HTMLElement {
  const made = document.createElement(tag)
  made.append(...children)
  return made
}
