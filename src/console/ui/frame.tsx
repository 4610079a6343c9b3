// What every page has, the live one too, which loads no more: its header, and inputs that follow a signal.

import type { Signal } from '@preact/signals'
import type { ComponentChildren, ComponentProps } from 'preact'

const LINK_TITLES = { '/live': 'Live', '/console': 'Console', '/docs': 'Docs', '/status': 'Status' } as const

interface HeaderProps {
  readonly home: string
  readonly current?: string
  readonly navigation?: ComponentChildren
  readonly links: readonly (keyof typeof LINK_TITLES)[]
  readonly children?: ComponentChildren
}

/** What stands above every page: where one can go, and who is signed in. */
export function Header({ home, current, navigation, links, children }: HeaderProps) {
  return (
    <>
      <a class="skip" href="#main">
        To the content
      </a>
      <header>
        <a class="brand" href={home}>
          Weir
        </a>
        <nav aria-label="Pages">
          {navigation}
          {links.map((path) => (
            <a key={path} href={path} aria-current={path === current ? 'page' : undefined}>
              {LINK_TITLES[path]}
            </a>
          ))}
        </nav>
        {children && <p class="who">{children}</p>}
      </header>
    </>
  )
}

/** A button that sends no form. */
export function Button({ text, ...own }: ComponentProps<'button'> & { readonly text: string }) {
  return (
    <button type="button" {...own}>
      {text}
    </button>
  )
}

/** What an input has of a signal that holds its text. */
export const bindInput = (text: Signal<string>) => ({
  value: text.value,
  onInput: (event: { readonly currentTarget: HTMLInputElement }) => {
    text.value = event.currentTarget.value
  },
})
