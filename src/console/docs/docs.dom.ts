// Enhances the documentation pages, which also work without it: search, copy buttons, one language in all samples, the served
// address in samples, and the form of a request (try-it.dom.ts).

import { withOrigin } from '../requests/served-origin.ts'
import { COPY } from './strings.ts'
import { setUpTryIt } from './try-it.dom.ts'

/** Loads the search when it is first used: by a click, `/`, Ctrl-K, or a form that was submitted before this script ran. */
function setUpSearch(): void {
  const form = document.querySelector<HTMLFormElement>('.search')
  const field = form?.querySelector('input')
  if (!form || !field) return
  const open = async () => {
    const { openSearchPanel } = await import('./search-panel.dom.ts')
    openSearchPanel(form, field)
  }
  field.addEventListener('focus', () => void open(), { once: true })
  addEventListener('keydown', (event) => {
    const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? '')
    const isCommand = event.ctrlKey || event.metaKey
    const isOpener = event.key === '/' ? !isTyping && !isCommand : event.key.toLowerCase() === 'k' && isCommand
    if (!isOpener) return
    event.preventDefault()
    field.focus()
    field.select()
  })
  const query = new URLSearchParams(location.search).get('q')
  if (query === null) return
  field.value = query
  field.focus()
}

/** Makes samples use the origin that serves this page. */
function showServedOrigin(): void {
  for (const block of document.querySelectorAll('article pre[data-language] code')) {
    const nodes = document.createTreeWalker(block, NodeFilter.SHOW_TEXT)
    while (nodes.nextNode()) {
      const { currentNode: text } = nodes
      text.nodeValue = withOrigin(text.nodeValue ?? '', location.origin)
    }
  }
}

const LANGUAGE = 'weir-docs-language'

/** Selects the language that the visitor selected last, in all samples. */
function keepLanguage(): void {
  const inputs = [...document.querySelectorAll<HTMLInputElement>('.tabs input')]
  const select = (language: string | null) => {
    for (const input of inputs) if (input.value === language) input.checked = true
  }
  try {
    select(localStorage.getItem(LANGUAGE))
  } catch {
    // The browser may block storage. Then the choice lasts as long as the page.
  }
  for (const input of inputs) {
    input.addEventListener('change', () => {
      const top = input.getBoundingClientRect().top
      select(input.value)
      // Samples above may be longer now; the one that was clicked keeps its place.
      scrollBy({ top: input.getBoundingClientRect().top - top, behavior: 'instant' })
      try {
        localStorage.setItem(LANGUAGE, input.value)
      } catch {
        // As above.
      }
    })
  }
}

function addCopyButtons(): void {
  for (const block of document.querySelectorAll<HTMLElement>('article pre:not(.answer pre)')) {
    const code = block.firstElementChild ?? block
    block.append(copyButton(COPY.copy, () => navigator.clipboard.writeText(code.textContent ?? '')))
  }
  const markdown = document.querySelector<HTMLLinkElement>('link[type="text/markdown"]')?.href
  const main = document.querySelector('main')
  if (markdown === undefined || main === null) return
  const button = copyButton(COPY.markdown, async () => {
    // Some browsers allow a copy only if it begins within the click.
    const text = fetch(markdown).then(async (response) => new Blob([await response.text()], { type: 'text/plain' }))
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': text })])
  })
  button.classList.add('copy-page')
  main.prepend(button)
}

/** A button says this long that it copied. */
const COPIED_MS = 2_000

function copyButton(label: string, copy: () => Promise<void>): HTMLButtonElement {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = label
  button.addEventListener('click', async () => {
    button.textContent = await copy().then(
      () => COPY.copied,
      () => COPY.failed,
    )
    setTimeout(() => (button.textContent = label), COPIED_MS)
  })
  return button
}

/** Scrolls a long menu to the current page, and nothing else. */
function showCurrentPage(): void {
  const menu = document.querySelector<HTMLElement>('.side')
  const link = menu?.querySelector<HTMLElement>('[aria-current]')
  if (menu && link) menu.scrollTop = link.offsetTop - menu.clientHeight / 2
}

showCurrentPage()
setUpSearch()
setUpTryIt()
showServedOrigin()
keepLanguage()
if ('clipboard' in navigator) addCopyButtons()
