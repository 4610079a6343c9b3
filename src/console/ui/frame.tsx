// The header of every page, and inputs bound to a signal. Besides the mark, the live page loads nothing else of `ui`.

import type { Signal } from '@preact/signals'
import { type ComponentChildren, type ComponentProps, h } from 'preact'
import { FRAME } from './frame-strings.ts'
import { Mark } from './icon.tsx'

interface HeaderProps {
  readonly home: string
  readonly current?: string
  readonly navigation?: ComponentChildren
  readonly links: readonly (keyof typeof FRAME.links)[]
  readonly children?: ComponentChildren
}

export function Header({ home, current, navigation, links, children }: HeaderProps) {
  return (
    <>
      <a class="skip" href="#main">
        {FRAME.skip}
      </a>
      <header>
        <a class="brand" href={home}>
          <Mark />
          Weir
        </a>
        <nav aria-label={FRAME.navigation}>
          {navigation}
          {links.map((path) => (
            <a key={path} href={path} aria-current={path === current ? 'page' : undefined}>
              {FRAME.links[path]}
            </a>
          ))}
        </nav>
        {children && <p class="who">{children}</p>}
      </header>
    </>
  )
}

/** The end of a page: the color theme, notices, and the operator's own links, which arrive later and move nothing. */
export const Footer = ({ children }: { readonly children?: ComponentChildren }) => (
  <footer>
    {h('theme-switch', null)}
    {children}
    {h('legal-links', null)}
  </footer>
)

/** A button that submits no form. */
export function Button({ text, ...own }: ComponentProps<'button'> & { readonly text: string }) {
  return (
    <button type="button" {...own}>
      {text}
    </button>
  )
}

/** Input props that keep a signal equal to the typed text. */
export const bindInput = (text: Signal<string>) => ({
  value: text.value,
  onInput: (event: { readonly currentTarget: HTMLInputElement }) => {
    text.value = event.currentTarget.value
  },
})
