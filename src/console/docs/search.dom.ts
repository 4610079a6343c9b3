// Results under the search field while one types. The index is fetched when somebody comes to the field; without a script
// the form leads to the page of all pages.

import { element } from './element.dom.ts'
import { type Indexed, matches } from './matches.ts'

export function offerSearch(): void {
  const form = document.querySelector<HTMLFormElement>('.search')
  const field = form?.querySelector('input')
  if (!form || !field) return
  const list = document.createElement('ul')
  list.className = 'results'
  list.hidden = true
  list.setAttribute('aria-label', 'Results')
  form.append(list)
  let index: Promise<Indexed[]> | null = null
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
    const found = pages === null ? [] : matches(pages, field.value)
    list.replaceChildren(...found.map(resultOf), ...(found.length === 0 ? [nothingOf(pages === null)] : []))
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

function resultOf({ address, title, summary }: Indexed): HTMLElement {
  const link = element('a', element('b', title), element('span', summary))
  link.setAttribute('href', address)
  return element('li', link)
}

function nothingOf(isBroken: boolean): HTMLElement {
  const words = isBroken ? 'The index cannot be loaded: /docs/all lists every page.' : 'Nothing has all of these words.'
  return element('li', element('p', words))
}
