// The color theme of every page, and the element <theme-switch>. The script of the page's head runs before the first paint,
// so that no page is shown in another theme first. Kept in this browser only.

import { THEMES } from './site-strings.ts'

const STORED = 'weir-theme'

/** Paths of icons in a box of 24 × 24: a screen, a sun, a moon. */
const ICONS: Readonly<Record<string, string>> = {
  system: 'M3 4h18v12H3zM8 20h8M12 16v4',
  light:
    'M12 8a4 4 0 1 0 0 8a4 4 0 1 0 0-8M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6L19 19M5 19l1.4-1.4M17.6 6.4L19 5',
  dark: 'M20 14.5A8.5 8.5 0 1 1 9.500 4a7 7 0 0 0 10.500 10.500z',
}

const isTheme = (name: string | null): name is keyof typeof THEMES.names =>
  name !== null && Object.hasOwn(THEMES.names, name)

/** Browsers may deny access to the storage. The choice then lasts until the page is closed. */
function stored(): string | null {
  try {
    return localStorage.getItem(STORED)
  } catch {
    return null
  }
}

function apply(name: string | null): void {
  const theme = isTheme(name) ? name : 'system'
  document.documentElement.dataset.theme = theme
  for (const button of document.querySelectorAll('theme-switch button'))
    button.setAttribute('aria-pressed', String(button.getAttribute('value') === theme))
}

function choose(name: string): void {
  apply(name)
  try {
    localStorage.setItem(STORED, name)
  } catch {
    // As in `stored`.
  }
}

class ThemeSwitch extends HTMLElement {
  connectedCallback(): void {
    this.role = 'group'
    this.ariaLabel = THEMES.label
    this.innerHTML = Object.entries(THEMES.names)
      .map(
        ([name, text]) =>
          `<button type="button" value="${name}" title="${text}" aria-label="${text}"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="${ICONS[name]}"/></svg></button>`,
      )
      .join('')
    for (const button of this.querySelectorAll('button')) button.onclick = () => choose(button.value)
    apply(document.documentElement.dataset.theme ?? null)
  }
}

apply(stored())
customElements.define('theme-switch', ThemeSwitch)
addEventListener('storage', ({ key, newValue }) => {
  if (key === STORED) apply(newValue)
})
