// What a script adds to the pages of the documentation, which do without: results while one types, a button that copies,
// and a form that sends with the visitor’s own session.

import { offerSearch } from './search.dom.ts'
import { offerTrying } from './try-it.dom.ts'

function offerCopies(): void {
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
function nameThisGateway(): void {
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
offerSearch()
offerTrying()
nameThisGateway()
if ('clipboard' in navigator) offerCopies()
