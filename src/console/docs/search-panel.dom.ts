// The results below the search field. This file and the index are loaded when the search is first used.

import { GROUPS, groupedHits, type Hit, loadIndex, type SearchIndex, searchPages } from './search.ts'
import { SEARCH } from './strings.ts'
import { textElement } from './try-it.dom.ts'

/** Shows results while the visitor types into the field of `form`. Call it once. */
export function openSearchPanel(form: HTMLFormElement, field: HTMLInputElement): void {
  const list = listBelow(form, field)
  let index: Promise<SearchIndex> | null = null
  let selected = 0
  const load = () => {
    index ??= fetch('/docs/search.json')
      .then((response) => (response.ok ? response.text() : Promise.reject(new Error(response.statusText))))
      .then(loadIndex)
    // A later attempt may succeed.
    index.catch(() => (index = null))
    return index
  }
  const options = () => [...list.querySelectorAll<HTMLAnchorElement>('a[role=option]')]
  const select = (at: number) => {
    const every = options()
    selected = every.length === 0 ? 0 : (at + every.length) % every.length
    for (const [i, option] of every.entries()) option.setAttribute('aria-selected', String(i === selected))
    every[selected]?.scrollIntoView({ block: 'nearest' })
    field.setAttribute('aria-activedescendant', every[selected]?.id ?? '')
  }
  const toggle = (isOpen: boolean) => {
    list.hidden = !isOpen
    field.setAttribute('aria-expanded', String(isOpen))
  }
  const show = async () => {
    const loaded = await load().catch(() => null)
    list.replaceChildren(...(loaded === null ? [noteOf(SEARCH.failed)] : resultsOf(loaded, field.value.trim())))
    for (const [i, option] of options().entries()) option.id = `result-${i}`
    toggle(field.value.trim() !== '' && form.contains(document.activeElement))
    select(0)
  }
  field.addEventListener('focus', show)
  field.addEventListener('input', show)
  field.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      select(selected + step)
    }
    if (event.key === 'Escape') toggle(false)
  })
  form.addEventListener('submit', (event) => {
    const option = options()[selected]
    if (list.hidden || option === undefined) return
    event.preventDefault()
    toggle(false)
    location.assign(option.href)
  })
  form.addEventListener('focusout', ({ relatedTarget }) => {
    if (!form.contains(relatedTarget as Node | null)) toggle(false)
  })
  void show()
}

function listBelow(form: HTMLFormElement, field: HTMLInputElement): HTMLElement {
  const list = document.createElement('div')
  list.className = 'results'
  list.id = 'results'
  list.hidden = true
  list.setAttribute('role', 'listbox')
  list.setAttribute('aria-label', SEARCH.results)
  form.append(list)
  field.setAttribute('role', 'combobox')
  field.setAttribute('aria-controls', list.id)
  field.setAttribute('aria-expanded', 'false')
  field.setAttribute('aria-autocomplete', 'list')
  return list
}

function resultsOf(index: SearchIndex, typed: string): HTMLElement[] {
  const hits = searchPages(index, typed)
  if (hits.length > 0) return groupedHits(hits).map(groupOf)
  const suggested = SEARCH.suggestions.flatMap((word) => searchPages(index, word).slice(0, 1))
  return [noteOf(SEARCH.nothing(typed)), ...suggested.map(optionOf)]
}

function groupOf([group, hits]: readonly [keyof typeof GROUPS, readonly Hit[]]): HTMLElement {
  const section = document.createElement('div')
  section.setAttribute('role', 'group')
  section.setAttribute('aria-label', GROUPS[group])
  const heading = textElement('p', GROUPS[group])
  heading.className = 'group'
  heading.setAttribute('aria-hidden', 'true')
  section.append(heading, ...hits.map(optionOf))
  return section
}

function optionOf({ address, title, heading, summary }: Hit): HTMLElement {
  const link = document.createElement('a')
  link.href = address
  link.tabIndex = -1
  link.setAttribute('role', 'option')
  const name = textElement('b', heading === null ? title : `${title} › ${heading}`)
  const [, kind] = /^\/docs\/(\w+)\/\w/.exec(address)?.map((part) => SEARCH.kinds[part]) ?? []
  if (kind !== undefined) name.append(' ', textElement('small', kind))
  link.append(name, textElement('span', summary))
  return link
}

/** Text that cannot be selected; a list box has only options. */
function noteOf(text: string): HTMLElement {
  const note = textElement('p', text)
  note.setAttribute('role', 'option')
  note.setAttribute('aria-disabled', 'true')
  return note
}
